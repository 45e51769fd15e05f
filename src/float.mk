# Every operation of a double is rounded to a double, so that results are the same on
# every machine: none is fused with the next one, and on i386 SSE2 computes them.
FLOAT_FLAGS = -ffp-contract=off
ifneq ($(filter i386-% i486-% i586-% i686-%,$(shell $(CC) -dumpmachine 2>/dev/null)),)
FLOAT_FLAGS += -msse2 -mfpmath=sse
endif
