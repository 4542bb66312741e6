from importlib.metadata import PackageNotFoundError, version as _version_of

try:
    version = _version_of("belfry-client")
except PackageNotFoundError:  # run from sources that are not installed
    version = "0"
