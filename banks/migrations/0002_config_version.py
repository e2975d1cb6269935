"""A vault's ``config_version``, moved by triggers whenever its banks or settings change, whoever changes them."""

from __future__ import annotations

from django.db import migrations, models

FUNCTION = """
CREATE FUNCTION memoryhub_config_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        UPDATE banks_vault SET config_version = config_version + 1 WHERE id = OLD.vault_id OR OLD.vault_id IS NULL;
    END IF;
    IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND NEW.vault_id IS DISTINCT FROM OLD.vault_id) THEN
        UPDATE banks_vault SET config_version = config_version + 1 WHERE id = NEW.vault_id OR NEW.vault_id IS NULL;
    END IF;
    RETURN NULL;
END $$;
"""
TRIGGER = (
    "CREATE TRIGGER config_changed AFTER INSERT OR UPDATE OR DELETE ON {table}"
    " FOR EACH ROW EXECUTE FUNCTION memoryhub_config_changed();"
)


class Migration(migrations.Migration):
    """What a process remembers of a vault's banks and settings is right or not used."""

    dependencies = (("banks", "0001_initial"),)
    operations = (
        migrations.AddField("vault", "config_version", models.IntegerField(default=0)),
        migrations.RunSQL(FUNCTION, migrations.RunSQL.noop),
        migrations.RunSQL(TRIGGER.format(table="banks_bank"), migrations.RunSQL.noop),
        migrations.RunSQL(TRIGGER.format(table="banks_settingvalue"), migrations.RunSQL.noop),
    )
