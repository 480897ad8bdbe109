# The one list of commands. Each does its whole set-up on a fresh machine.

SETUP := packaging/setup.sh
BIN := .venv/bin
QT := libglib2.0-0 libegl1 libgl1 libxkbcommon0 libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 \
	libxcb-xkb1 libxcb-shape0 libdbus-1-3 libfontconfig1
# Only where there is no node at all: a newer one than Debian's may be installed.
NODE := $(shell command -v node >/dev/null 2>&1 || echo nodejs)
NPM := $(shell command -v npm >/dev/null 2>&1 || echo npm)
WINDOW := $(QT) bubblewrap $(NODE)
SCREEN := xvfb xdotool
BUILD := binutils dpkg-dev patchelf xz-utils
TESTS := $(WINDOW) $(SCREEN) dbus gnome-keyring golang-go ruby

# Where no compiled modules may be written, every process that is started compiles the whole program again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run demo test check agents lint bench fuzz soak kill breaks walk images gallery languages package package-test lock clean

help:
	@echo "make run     open the console"
	@echo "make demo    show the main job on a virtual screen, leaving screenshots in build/demo"
	@echo "make test    run the tests; ARGS=\"tests/risk -k name\" runs these, as pytest understands it; ARGS=--busy runs all"
	@echo "             beside four processes that compute: what fails only then measures the machine"
	@echo "make check   within a minute, for every save: style, types, and the tests that are nearest to what changed since"
	@echo "             this branch left main; ARGS=HEAD for what is not committed"
	@echo "make agents  install Claude Code, Codex, Gemini CLI and other clients (2 GB), so that the tests drive them too"
	@echo "make lint    check style, types and that the classifier has not lost what it found; takes no ARGS"
	@echo "make bench   measure, against a floor measured in the same run, and write the help's page on speed; ARGS=--list"
	@echo "             tells what is measured, ARGS=idle measures that and writes no page"
	@echo "make fuzz    give random input to all that reads what others write, four minutes; ARGS=--list tells what"
	@echo "make soak    ask a console for ten minutes and judge what grows in it; ARGS=\"--seconds 60\" for less"
	@echo "make kill    kill a console at random moments while agents ask, and check every promise after each kill;"
	@echo "             ARGS=\"--kills 5\" for fewer than 40"
	@echo "make breaks  take each mend of a weakness out of a copy and see its tests fail; ARGS=\"3 F7\" for these,"
	@echo "             ARGS=--list names them"
	@echo "make walk    answer fifty requests in a real window on a virtual screen, from what it shows, and count the right ones"
	@echo "make images  build the images that containers start from; ARGS=\"--help\" tells more"
	@echo "make gallery draw every page and dialog in its states into build/gallery/index.html; ARGS=queue draws those"
	@echo "make languages  bring the catalogues of the window's languages up to date with its texts; ARGS=fr begins one"
	@echo "make package make the Debian package and the archive in dist; FAST=1 compresses quickly, without the archive"
	@echo "make package-test  install the package in a bare Debian and use it; SUITES=\"bookworm trixie\" for more,"
	@echo "             ARGS=\"-k name\" for these tests"
	@echo "make lock    write the lock files again"
	@echo "make clean   remove what the other commands made"

run:
	@$(SETUP) run $(WINDOW)
	@$(BIN)/assent

demo:
	@$(SETUP) run $(WINDOW) $(SCREEN)
	@$(BIN)/assent demo

# Four processes for two processors: those with the tests on container engines mostly wait for them. All tests are read
# once before, while an engine may be installed; else each of the four would rewrite the assertions of them all.
test:
	@$(SETUP) dev $(TESTS)
	@$(if $(filter-out --busy,$(ARGS)),,$(BIN)/python -m pytest --collect-only -qq >/dev/null &) \
		packaging/engine.sh install || echo "Tests on containers are skipped."; wait
	@$(BIN)/python -m pytest $(ARGS) $(if $(filter-out --busy,$(ARGS)),,-n 4)

check:
	@$(SETUP) dev $(TESTS)
	@$(BIN)/python -m tests.quick $(ARGS)

agents:
	@$(SETUP) dev $(TESTS) $(NPM)
	@packaging/agents.sh

lint:
	@$(SETUP) dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python -m tests.risk.drift

bench:
	@$(SETUP) dev $(TESTS)
	@packaging/engine.sh install || echo "Rows on containers are skipped."
	@$(BIN)/python -m tests.bench $(ARGS)

fuzz:
	@$(SETUP) dev $(QT)
	@QT_QPA_PLATFORM=offscreen $(BIN)/python -m tests.fuzz $(ARGS)

soak:
	@$(SETUP) dev bubblewrap
	@$(BIN)/python -m tests.soak $(ARGS)

kill:
	@$(SETUP) dev bubblewrap
	@$(BIN)/python -m tests.soak.kills $(ARGS)

breaks:
	@$(SETUP) dev $(TESTS)
	@$(BIN)/python -m tests.breaks $(ARGS)

walk:
	@$(SETUP) dev $(TESTS)
	@$(BIN)/python -m tests.soak.walk

images:
	@$(SETUP) run
	@$(BIN)/python -m runner.commands.images $(ARGS)

gallery:
	@$(SETUP) dev $(WINDOW)
	@$(BIN)/python -m tests.gui.gallery $(ARGS)

languages:
	@$(SETUP) dev
	@$(BIN)/python -m tests.languages $(ARGS)

package:
	@$(SETUP) dev $(WINDOW) $(BUILD)
	@packaging/linux/package.sh

package-test:
	@$(SETUP) dev $(WINDOW) $(SCREEN) $(BUILD) mmdebstrap lintian desktop-file-utils appstream imagemagick
	@packaging/linux/check.sh $(ARGS)

lock:
	@$(SETUP) dev
	@packaging/lock.sh

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
