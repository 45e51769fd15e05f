# simdup: near-duplicate detection inside PostgreSQL
#
#   make, make install, make installcheck   as with any PGXS extension
#   make prove_installcheck [PROVE_TESTS="test/t/name.pl …"]   the scripts of
#        test/t, which start servers, as an ordinary user
#   make demo [DATA=file.csv [TEXT=column]]   the petition workflow on a throwaway cluster
#   make test [TESTS="name …"]  what every change must pass, on throwaway clusters
#   make lint                   format, warnings, static analysis, symbols
#   make test-all               everything: hours. Its parts are test-valgrind,
#        test-sanitize, test-matrix [VERSIONS="n …"], test-package and fuzz
#        [SECONDS=n] [TARGET="name …"]; test/README.md has them and their options.
#   make bench [ROWS=n] [PART=name]   measurements, as ratios within one run
#   make dist                   a PGXN archive of what is committed
#   make image-tree             lib/ and share/ in build/image, as an image of the
#        extension has them for CloudNativePG: see Containerfile
#
# As root on Debian, demo, test and the targets below them install the packages that
# they lack. With KEEP_PACKAGES=1 none does, and what is missing is named.
#
# A build in a folder of its own: make -f /path/to/Makefile, there.
#
# The tokenizer icu is built in if ICU's headers are installed. make clean and
# then make WITH_ICU=no builds without it.

# Where the sources are: here, unless the build is elsewhere.
here := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
ifeq ($(realpath $(here)),$(realpath .))
here := .
endif

EXTENSION = simdup
EXTVERSION := $(shell sed -n "s/^default_version = '\(.*\)'/\1/p" $(here)/simdup.control)
PG_CONFIG ?= pg_config
export PG_CONFIG

# the files of these names, as they are called from $(here)
files = $(patsubst $(here)/%,%,$(wildcard $(addprefix $(here)/,$(1))))

SQL_PARTS = $(sort $(call files,sql/*.sql))
SOURCES = $(call files,src/*.c src/*/*.c src/*/*/*.c)

MODULE_big = simdup
OBJS = $(SOURCES:.c=.o)
DATA_built = simdup--$(EXTVERSION).sql
# a script for psql, and from each version that was published, simdup--1.0.0--1.0.1.sql
DATA = $(call files,clients/psql/*.sql sql/upgrade/*.sql)
DOCS = $(call files,doc/simdup-*.md doc/simdup-*.png)
REGRESS = $(basename $(notdir $(sort $(call files,test/sql/*.sql))))
REGRESS_OPTS = --inputdir=$(here)/test --load-extension=simdup --encoding=UTF8 --no-locale
ISOLATION = $(basename $(notdir $(sort $(call files,test/specs/*.spec))))
# 15 looks for expected/ in the output and the input folder, later ones in the current one
ISOLATION_OPTS = $(REGRESS_OPTS) --outputdir=.
PROVE_TESTS = $(sort $(call files,test/t/*.pl))
EXTRA_CLEAN = simdup--$(EXTVERSION).sql src/report/*.inc $(OBJS:.o=.d) build results output_iso tmp_check
# The server's headers are not ours to warn about, so they come in as system
# headers; SIMDUP_VERSION keeps the module and the control file in step.
# FLOAT_FLAGS stand in PG_CPPFLAGS because bitcode is built without PG_CFLAGS.
include $(here)/src/float.mk
PG_CPPFLAGS = -I$(here)/src -Isrc -isystem $(shell $(PG_CONFIG) --includedir-server 2>/dev/null) -DSIMDUP_VERSION='"$(EXTVERSION)"' $(FLOAT_FLAGS)
# Each object file comes with a list of the headers that it was made from.
PG_CFLAGS = -Wall -Wextra $(WERROR) -MMD -MP

ICU_HEADERS := $(shell pkg-config --cflags icu-uc icu-i18n 2>/dev/null)
WITH_ICU ?= $(shell echo '\#include <unicode/ulocdata.h>' | $(CC) $(ICU_HEADERS) -E - >/dev/null 2>&1 && echo yes || echo no)
ifeq ($(WITH_ICU),yes)
PG_CPPFLAGS += -DSIMDUP_ICU $(ICU_HEADERS)
SHLIB_LINK += $(shell pkg-config --libs icu-i18n icu-uc 2>/dev/null || echo -licui18n -licuuc)
endif

all:

PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
ifneq ($(wildcard $(PGXS)),)
include $(PGXS)
else
all install installcheck:
	@echo "simdup: no PostgreSQL server headers: install the server development package, or set PG_CONFIG" >&2
	@exit 1
clean:
	rm -rf $(EXTRA_CLEAN) $(OBJS) simdup.so
endif

# PGXS looks for the pages in doc/ there, too.
uninstall: uninstall-pages
uninstall-pages:
	rm -f $(addprefix '$(DESTDIR)$(docdir)/$(docmoduledir)'/,$(notdir $(DOCS)))
.PHONY: uninstall-pages

# PGXS has the rule, but none of its targets calls it alone.
prove_installcheck:
	$(prove_installcheck)
.PHONY: prove_installcheck

# One install script out of its parts, in their order.
simdup--$(EXTVERSION).sql: $(SQL_PARTS) simdup.control
	cat $(filter %.sql,$^) > $@

# The files of the report's page as C strings.
REPORT_STRINGS = $(addprefix src/report/report_,html.inc css.inc js.inc json.inc)
src/report/report_%.inc: src/report/report.%
	sed 's/["\\]/\\&/g; s/.*/"&\\n"/' $< > $@
src/report/report.o src/report/report.bc: $(REPORT_STRINGS)

# Loops of these files become vector code.
src/core/fingerprint/chars.o src/core/fingerprint/sketch.o src/core/search/page_search.o: CFLAGS += -O3
# Many loops of a sketch end after a few turns, which a processor cannot foresee. So
# they are unrolled.
src/core/fingerprint/sketch.o: CFLAGS += -funroll-loops

# A changed header compiles the files that include it, and their bitcode, again.
-include $(OBJS:.o=.d)
$(OBJS:.o=.bc): %.bc: %.o
# The module says its version.
src/simdup.o src/simdup.bc: simdup.control

# A build elsewhere has folders of its own, and looks there for the expected
# output. Not files to make: VPATH would find those of the sources.
ifneq ($(here),.)
# VPATH would take what is built there, perhaps for another server, for this.
ifneq ($(call files,$(OBJS)),)
$(error simdup: there is a build in $(here): make clean there first)
endif
$(OBJS) $(OBJS:.o=.bc) $(REPORT_STRINGS): | own-folders
own-folders:
	@mkdir -p $(sort $(dir $(OBJS)))
installcheck: own-expected
own-expected:
	@ln -sfn $(here)/expected expected
.PHONY: own-folders own-expected
endif

# What is given to this make is not for the makes that the scripts call: there
# DATA means the files to install.
SCRIPT = MAKEFLAGS= MAKEOVERRIDES=

demo:
	@$(SCRIPT) test/run demo $(if $(filter command,$(origin DATA)),"$$DATA" $(if $(filter command,$(origin TEXT)),"$$TEXT"))

test:
	@$(SCRIPT) ENCODING='$(ENCODING)' SETTINGS='$(SETTINGS)' test/run test $(TESTS)

test-all:
	@$(SCRIPT) FUZZ_SECONDS='$(SECONDS)' test/run all

test-valgrind:
	@$(SCRIPT) test/run valgrind $(TESTS)

test-matrix:
	@$(SCRIPT) TESTS='$(TESTS)' test/matrix $(VERSIONS)

test-sanitize:
	@$(SCRIPT) test/run sanitize $(TESTS)

bench:
	@$(SCRIPT) ROWS='$(ROWS)' test/run bench $(PART)

lint:
	@$(SCRIPT) test/run lint

fuzz:
	@$(SCRIPT) FUZZ_SECONDS='$(SECONDS)' test/run fuzz $(TARGET)

dist:
	@git diff --quiet HEAD || echo "simdup: the archive is of HEAD, without what is not committed" >&2
	version=$$(git show HEAD:./META.json | sed -n 's/^  "version": "\(.*\)",/\1/p') && \
	git archive --format=zip --prefix=simdup-$$version/ -o simdup-$$version.zip HEAD

# An image has no pages and no bitcode.
image-tree: all
	rm -rf build/image
	$(MAKE) -f $(firstword $(MAKEFILE_LIST)) install with_llvm=no DOCS= DESTDIR= \
	  pkglibdir='$(CURDIR)/build/image/lib' datadir='$(CURDIR)/build/image/share'

test-package:
	@$(SCRIPT) test/package

.PHONY: demo test test-all test-valgrind test-sanitize test-matrix fuzz lint bench dist image-tree test-package
