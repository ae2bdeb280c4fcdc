#!/bin/sh
# bootstrap.sh - tools/bootstrap installs what is missing, and only that
#
# It runs with a PATH of a few harmless commands and a package manager that only
# logs its arguments.
# shellcheck source=tests/lint/plant
. "$(dirname "$0")/plant"

bin=$garden/bin
asked=$garden/asked
machine=$garden/machine
home=$PATH

# command_named NAME: create a command that does nothing and succeeds
command_named() {
    printf '#!/bin/sh\nexit 0\n' >"$bin/$1" && chmod +x "$bin/$1"
}

# user NUMBER: who we seem to be
user() {
    printf '#!/bin/sh\necho %s\n' "$1" >"$bin/id" && chmod +x "$bin/id"
}

# A machine with the basic commands and nothing else; we seem to be root.
bare_machine() {
    rm -rf "$bin" "$machine" "$asked"
    mkdir -p "$bin" "$machine/tools" "$machine/subprojects/packagefiles"
    cp "$tools/bootstrap" "$machine/tools/"
    for name in sh env awk cat cmp dirname head ls mkdir mktemp mv rm sed \
        sha256sum tail touch chmod; do
        ln -s "$(PATH=$home command -v "$name")" "$bin/$name"
    done
    user 0
}

# A package manager that logs its arguments and "installs" empty commands.
manager() {
    cat >"$bin/$1" <<END
#!/bin/sh
echo "$1 \$*" >>"$asked"
for word do
    case \$word in
    -*|install|add|update) ;;
    ninja-build) touch "$bin/ninja"; chmod +x "$bin/ninja" ;;
    *) touch "$bin/\$word"; chmod +x "$bin/\$word" ;;
    esac
done
END
    chmod +x "$bin/$1"
}

bootstrap() { (PATH=$bin; "$machine/tools/bootstrap" "$@"); }

# was_asked WHY WORDS: the package manager got these arguments
was_asked() {
    cp "$asked" "$garden/said"
    says "$1" "$2"
}

bare_machine
catches "without a package manager it gives up" \
    "no known package manager here; please install: valgrind" \
    bootstrap valgrind

bare_machine
manager apt-get
user 1000
catches "another user is told what to install" \
    "please install as root: valgrind" bootstrap valgrind

bare_machine
manager apt-get
passes "it installs what is missing" bootstrap valgrind cover
says "it says what and why" \
    "installing valgrind: finds leaks and wild reads in the tests"
says "one line for each" "installing gcovr: reports which lines the tests reach"
was_asked "it asks for nothing" "apt-get install -y"
was_asked "all in one go" "valgrind gcovr"
rm "$asked"
passes "the second time it is done" bootstrap valgrind cover
if [ -s "$garden/said" ]; then not_ok "silently"; else ok "silently"; fi
if [ -e "$asked" ]; then
    not_ok "without a manager"
else
    ok "without a manager"
fi

for pair in dnf:clang-tools-extra pacman:clang apk:clang-extra-tools brew:llvm
do
    bare_machine
    manager "${pair%:*}"
    passes "${pair%:*} is known" bootstrap lint
    was_asked "and its names" "${pair#*:}"
done

bare_machine
printf '#!/bin/sh\necho "no such package" >&2\nexit 100\n' >"$bin/apt-get"
chmod +x "$bin/apt-get"
catches "a failed install is one clear sentence" \
    "bootstrap: could not install valgrind" bootstrap valgrind
says "with the manager's words" "no such package"

bare_machine
printf '#!/bin/sh\necho 1000\n' >"$garden/id"
rm "$bin/id" && mv "$garden/id" "$bin/id" && chmod +x "$bin/id"
manager apt-get
catches "an ordinary user without sudo" \
    "please install as root: valgrind" bootstrap valgrind
# shellcheck disable=SC2016  # the script expands it
printf '#!/bin/sh\nwhile [ "$1" = -n ]; do shift; done\nexec "$@"\n' \
    >"$bin/sudo"
chmod +x "$bin/sudo"
command_named true
passes "an ordinary user with sudo" bootstrap valgrind

catches "an unknown target" 'unknown target "tea"' \
    bootstrap tea

# ---- yyjson

# a pip that downloads $garden/sdist
python_with_pip() {
    cat >"$bin/python3" <<END
#!/bin/sh
case " \$* " in
*" --version "*) exit 0 ;;
esac
echo "pip \$*" >>"$asked"
while [ "\$1" != -d ]; do shift; done
cp "$garden/sdist" "\$2/yyjson-4.0.6.tar.gz"
END
    chmod +x "$bin/python3"
    ln -sf "$(PATH=$home command -v cp)" "$bin/cp"
}

# a pkg-config that knows libcurl and nothing else
only_libcurl() {
    cat >"$bin/pkg-config" <<'END'
#!/bin/sh
case "$*" in *libcurl*) exit 0 ;; esac
exit 1
END
    chmod +x "$bin/pkg-config"
}

build_machine() {
    bare_machine
    for name in cc meson ninja git; do command_named "$name"; done
    only_libcurl
    python_with_pip
}
archive=subprojects/packagefiles/yyjson-4.0.6.tar.gz

build_machine
command_named pkg-config
passes "the system's yyjson is enough" bootstrap build
if [ -s "$garden/said" ]; then not_ok "silently"; else ok "silently"; fi

build_machine
echo "not the archive we know" >"$garden/sdist"
passes "a wrong archive is no archive" bootstrap build
says "and Meson will try elsewhere" "cannot get an archive of yyjson"
was_asked "pip was told the hash" "--require-hashes"

build_machine
rm "$bin/git"
catches "no archive and no git" "could not get yyjson" bootstrap build

# ---- libcurl

for pair in apt-get:libcurl4-openssl-dev dnf:libcurl-devel pacman:curl \
    apk:curl-dev brew:curl
do
    build_machine
    cat >"$bin/pkg-config" <<'END'
#!/bin/sh
case "$*" in *libcurl*) exit 1 ;; esac
exit 0
END
    manager "${pair%:*}"
    passes "${pair%:*} brings libcurl" bootstrap build
    was_asked "by its name" "${pair#*:}"
done

bare_machine
manager apt-get
passes "the tests have needs of their own" bootstrap test
was_asked "to make certificates" "openssl"
was_asked "and shells to complete words in" "fish"

bare_machine
for name in pkg-config python3 openssl nghttpx tmux patch fish; do
    command_named "$name"
done
passes "a shell that nobody can install is not missed" bootstrap test
says "but named" "no zsh here: its tests are skipped"

# ---- the archive of yyjson

if [ -e "$SOURCE_DIR/$archive" ]; then
    build_machine
    cp "$SOURCE_DIR/$archive" "$garden/sdist"
    passes "the right archive is kept" bootstrap build
    cp "$machine/$archive" "$garden/said"
    if cmp -s "$machine/$archive" "$garden/sdist"; then
        ok "whole"
    else
        not_ok "whole"
    fi
    rm "$asked"
    passes "offline and fetched before" bootstrap build
    if [ -e "$asked" ]; then not_ok "pip is left alone"; else
        ok "pip is left alone"; fi
else
    skip "the right archive is kept" "this machine uses its own yyjson"
fi

finish
