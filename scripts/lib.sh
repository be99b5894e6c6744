# What the scripts beside this file share: the project's folder and its environment, .venv.
# Plain POSIX sh, since a new machine has nothing else.

set -eu
unset CDPATH PYTHONHOME PYTHONPATH
cd -- "$(dirname -- "$0")/.."

die() {
    printf '%s\n' "$@" >&2
    exit 1
}

# The first Python of at least 3.11 that can also do what $1 says, into `python`.
find_python() {
    for python in python3 python3.14 python3.13 python3.12 python3.11; do
        if runs "$python" "$1"; then return; fi
    done
    return 1
}

# Whether the Python $1 is of at least 3.11 and can run the code $2.
runs() {
    "$1" -c "import sys; assert sys.version_info >= (3, 11); $2" 2>/dev/null
}

apt_install() {
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        die "The package $1 is missing. On Debian or Ubuntu it comes with:" \
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
            'Python 3.11 or newer is needed, and none is in PATH. On Debian or Ubuntu it comes with:' \
            '    sudo apt-get update && sudo apt-get install -y python3 python3-venv'
        apt_install "$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
    fi
    "$python" -m venv .venv
}

# Make .venv hold this folder's project, with the arguments of `pip install` that are given; quick
# where it does already. The mark names the folder too: a copy of it must not run the original.
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
