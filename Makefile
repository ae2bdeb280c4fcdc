# Makefile - the commands of a developer; Meson and Ninja do the work
#
# Every target first calls tools/bootstrap, which installs what is missing.
# All output is in build/, one folder per kind of build.

PREFIX    ?= /usr/local
DESTDIR   ?=
FUZZ_TIME ?= 600
export DESTDIR FUZZ_TIME

.PHONY: all run examples test lint format asan tsan tsan-build valgrind \
        torture cover bench bench-check bench-accept peers fuzz catalog real \
        kill kill-batch refuse-batch escape conformance abi-accept install \
        uninstall clean help

all:            ## build the library, the examples and the tests
	@tools/build main

run:            ## show the program at work: no key, no network
	@TARGETS="allm allm-warden" tools/build main
	@build/main/allm demo

examples: all   ## run the examples, one after the other
	@tools/run-examples build/main

test:           ## run all tests
	@tools/bootstrap build test
	@tools/build main
	@tools/run-tests build/main

lint: all       ## check layers, sizes, headers, style, links and spelling
	@tools/bootstrap lint
	@tools/lint build/main

format:         ## format the C files
	@tools/bootstrap lint
	@tools/format --write

asan:           ## run the tests under the address and undefined sanitizers
	@tools/bootstrap test
	@tools/build asan
	@tools/run-tests build/asan --binaries

# The tests tagged "thread", and the programs that they start.
tsan-build:
	@tools/bootstrap test
	@TARGETS="$$(tools/list-files | sed -n \
	    's,^thread tests/unit/\(.*\)/\(test_\)\(.*\)\.c$$,tests/\2\1_\3,p' | \
	    sed 's,/,_,2') allm-warden examples/word_count tests/mcp_echo" \
	    tools/build tsan

tsan: tsan-build ## run the tests tagged "thread" under the thread sanitizer
	@ALLM_TORTURE=light tools/run-tests build/tsan --suite thread

valgrind: all   ## run the unit tests under valgrind
	@tools/bootstrap test valgrind
	@ALLM_TORTURE=off tools/run-tests build/main --valgrind

torture: all    ## run the unit tests with every single allocation failing
	@tools/bootstrap test
	@ALLM_TORTURE=full tools/run-tests build/main --suite unit

cover:          ## report which lines the tests execute
	@tools/bootstrap test cover
	@tools/build cover
	@tools/cover build/cover

bench:          ## measure the speed of a release build
	@tools/build release
	@tools/run-bench build/release

bench-check:    ## count the instructions of fixed workloads
	@tools/bootstrap valgrind
	@TARGETS=bench/check_workloads tools/build release
	@tools/bench-check check build/release

bench-accept:   ## accept the counts of bench-check: REASON="..."
	@tools/bootstrap valgrind
	@TARGETS=bench/check_workloads tools/build release
	@tools/bench-check accept build/release "$(REASON)"

peers:          ## compare with other clients; installs them (PEERS="--help")
	@TARGETS="bench/awake bench/peers_server bench/peers_allm \
	    bench/peers_bare" tools/build release
	@bench/peers/run.py $(PEERS)

fuzz:           ## fuzz each parser for FUZZ_TIME seconds
	@tools/bootstrap fuzz
	@tools/build fuzz
	@tools/run-fuzz build/fuzz

catalog:        ## regenerate data/catalog.json from the newest data
	@tools/catalog-update

kill: all       ## kill chats and workers at every commit, sync and write
	@tools/bootstrap test
	@tests/kill/run build/main

escape: all     ## try to leave the sandbox; kill a host with tools 50 times
	@python3 tests/escape/escape.py build/main/allm-warden \
	    build/main/tests/escape_attempt build/main/tests/escape_host --all

kill-batch: all ## kill a batch of 100,000 rows 30 times, and resume it
	@python3 tests/batch/kill.py build/main/allm

refuse-batch: all ## a batch whose provider answers 429 for a minute
	@python3 tests/batch/refuse.py build/main/allm

real: all       ## test with real servers (llama.cpp, MCP), JSONTestSuite
	@tools/bootstrap real
	@tools/real build/main
	@tools/real-mcp build/main
	@tools/real-mcp build/main run_conformance
	@tools/real-json build/main

conformance: all ## run the conformance suite of MCP on both sides
	@tools/bootstrap real
	@tools/real-mcp build/main run_conformance

abi-accept: all ## record the current exports and layouts as promised
	@tools/abi accept build/main

install:        ## install below PREFIX (and DESTDIR)
	@tools/build release -Dprefix="$(PREFIX)"
	@meson install -C build/release --no-rebuild --quiet

uninstall:      ## remove what install put below PREFIX (and DESTDIR)
	@tools/build release -Dprefix="$(PREFIX)"
	@tools/uninstall build/release

clean:          ## remove everything that was built
	@rm -rf build

help:           ## list these targets
	@awk -F ' *## ' '/^[a-z-]+:.*## / { sub(/:.*/, "", $$1); \
	    printf "  make %-12s %s\n", $$1, $$2 }' Makefile
