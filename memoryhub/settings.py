"""Django's settings: wiring only. What may differ between two hubs comes from ``memoryhub.env``."""

from __future__ import annotations

from secrets import token_urlsafe

from django.utils.csp import CSP

from memoryhub.env import BASE_DIR, environment, stored_secrets
from memoryhub.lib.logs import logging_config
from memoryhub.local.addresses import broker_url, database_options

ENV = environment()

DEBUG = ENV.debug
ALLOWED_HOSTS = ENV.hosts
# Processes that serve or work refuse to start without the stored secret; makemigrations and the tests need none.
SECRET_KEY = (
    (ENV.secret_key and ENV.secret_key.get_secret_value())
    or (ENV.secret_key_file and ENV.secret_key_file.read_text().strip())
    or stored_secrets(ENV.data).get("secret_key")
    or token_urlsafe(48)
)

ROOT_URLCONF = "memoryhub.urls"
WSGI_APPLICATION = "memoryhub.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

INSTALLED_APPS = [
    "memoryhub.apps.HubConfig",
    "memories",
    "banks",
    "memoryhub.apps.HubAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "django_htmx",
    "ninja",
]

MIDDLEWARE = [
    "memoryhub.middleware.RequestContextMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "memoryhub.middleware.ApiBodyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "banks.web.middleware.VaultAccessMiddleware",
]

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "banks.web.shell.shell",
            ],
        },
    },
]

DATABASES = {"default": database_options(ENV)}

# What limits log-ins; all processes count together while the broker answers, and none stops when it does not.
CACHES = {"default": {"BACKEND": "memoryhub.lib.sharedcache.SharedCache", "LOCATION": broker_url(ENV)}}

# Static files: straight from the source tree and the packages; nobody has to collect anything.
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_MAX_AGE = 300
WHITENOISE_ALLOW_ALL_ORIGINS = False

# People
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/accounts/login/"
ACCOUNT_ADAPTER = "memoryhub.accounts.ClosedAccountAdapter"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
# "ip" is an address or a known browser, and "key" a name tried from one; see memoryhub/accounts.py.
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    "login_failed": "10/m/ip,5/300s/key",
    "login_failed_anywhere": "50/h/key",
    "change_password": "5/m/user",
}

# What browsers may do
SECURE_CSP: dict[str, list[str]] = {
    "default-src": [CSP.NONE],
    "script-src": [CSP.SELF],
    "style-src": [CSP.SELF],
    "img-src": [CSP.SELF, "data:"],
    "font-src": [CSP.SELF],
    "connect-src": [CSP.SELF],
    "form-action": [CSP.SELF],
    "base-uri": [CSP.NONE],
    "frame-ancestors": [CSP.NONE],
}
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_NAME = "memoryhub_session"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = ENV.is_https
CSRF_COOKIE_NAME = "memoryhub_csrf"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SECURE = ENV.is_https
CSRF_TRUSTED_ORIGINS = [ENV.public_url.rstrip("/")] if ENV.public_url else []
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if ENV.is_https else None
DATA_UPLOAD_MAX_MEMORY_SIZE = 5 * 1024 * 1024

# Work in the background: the job table in PostgreSQL is the truth, a Celery message only says "look there".
CELERY_BROKER_URL = broker_url(ENV)
CELERY_BROKER_CONNECTION_TIMEOUT = 1.0
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 900,  # longer than a task may take, or a second worker would get it too
    "socket_connect_timeout": 0.5,
    "socket_timeout": 3.0,
    "max_retries": 0,
}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SOFT_TIME_LIMIT = 600
CELERY_TASK_TIME_LIMIT = 660
CELERY_TASK_DEFAULT_QUEUE = "memoryhub"
CELERY_WORKER_POOL = "prefork"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 350_000  # KiB
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = {
    "sweep jobs": {"task": "memories.sweep_jobs", "schedule": 10.0, "options": {"expires": 10.0}},
}

LOGGING = logging_config(ENV.log_level, ENV.log_format, show_messages=ENV.debug)
