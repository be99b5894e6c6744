# Functions of the scripts in this folder: they go to the project's folder and prepare .venv.
# POSIX sh, because a new machine has no other shell.

set -eu
unset CDPATH PYTHONHOME PYTHONPATH
cd -- "$(dirname -- "$0")/.."

die() {
    printf '%s\n' "$@" >&2
    exit 1
}

# Set `python` to the first Python, 3.11 or newer, that can run the code $1.
find_python() {
    for python in python3 python3.14 python3.13 python3.12 python3.11; do
        if runs "$python" "$1"; then return; fi
    done
    return 1
}

# Succeed if the Python $1 is 3.11 or newer and can run the code $2.
runs() {
    "$1" -c "import sys; assert sys.version_info >= (3, 11); $2" 2>/dev/null
}

apt_install() {
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        die "The package $1 is missing. To install it on Debian or Ubuntu:" \
            "    sudo apt-get update && sudo apt-get install -y $1"
    fi
    echo "Installing $1 …" >&2
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y "$1" >/dev/null
}

make_venv() {
    rm -rf .venv
    if ! find_python 'import ensurepip, venv'; then
        find_python '' || die \
            'Python 3.11 or newer is not in PATH. To install it on Debian or Ubuntu:' \
            '    sudo apt-get update && sudo apt-get install -y python3 python3-venv'
        apt_install "$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
    fi
    "$python" -m venv .venv
}

# Install this folder's project into .venv, with the given arguments of `pip install`. Does nothing
# if that is done already. The mark includes the folder: a copy of it must not run the original.
prepare() {
    runs .venv/bin/python 'import pip' || make_venv
    wanted="$PWD $(cksum <pyproject.toml) $*"
    case "$(cat .venv/prepared 2>/dev/null)" in
    "$wanted"*) return ;;
    esac
    echo 'Installing into .venv …' >&2
    if [ $# -gt 0 ]; then
        .venv/bin/python -m pip install -qq 'pip>=25.1' # knows --group
    fi
    .venv/bin/python -m pip install -qq -e . "$@"
    printf '%s\n' "$wanted" >.venv/prepared
}
