"""The sample vault: ninety days of one invented person and three agents, told in the JSON files beside this."""
