# The hub for a server of your own; compose.yaml adds PostgreSQL and Valkey.
FROM python:3.12-slim

RUN pip install --no-cache-dir uv && useradd --create-home --uid 1000 hub && install -d -o hub -g hub /app /data
USER hub
WORKDIR /app

COPY --chown=hub pyproject.toml uv.lock .python-version ./
RUN uv sync --frozen --no-dev --no-cache
COPY --chown=hub . .

ENV MEMORYHUB_DATA=/data PATH=/app/.venv/bin:$PATH
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
  CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/health/ready', timeout=4)"]

# One process tree: migrations, web server, job workers and the clock.
CMD ["python", "manage.py", "up", "--host", "0.0.0.0"]
