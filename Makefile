SF ?= 0.1
TPCH := run/tpch-sf$(SF)
OUTPUT := run/orders_lineitem.parquet
# The device of `make run`. Empty means auto, and lavapipe where it is installed and there is no GPU: auto takes no
# software driver.
DEVICE ?=

.PHONY: build run check test test-full generate clean

# With OpenCL, whose Go binding finds its C headers through pkg-config.
build:
	PKG_CONFIG_PATH=$(CURDIR)/opencl/pkgconfig go build -tags opencl -o bin/ ./cmd/spirjoin ./cmd/spirjoin-bench

# Generates TPC-H and joins orders with lineitem: `make run SF=1 DEVICE=host` for other sizes and devices.
run:
	@tools/setup.sh run
	@$(MAKE) --no-print-directory build
	@test -f $(TPCH)/orders.parquet -a -f $(TPCH)/lineitem.parquet || bin/spirjoin gen tpch --sf $(SF) -o $(TPCH)
	@device=$(DEVICE); listed=$$(bin/spirjoin devices --json); has() { echo "$$listed" | grep -Eq "$$1"; }; \
	if [ -z "$$device" ]; then \
		if has '"type": *"(discrete|integrated|virtual)"' || ! has llvmpipe; then device=auto; else device=lavapipe; fi; \
	fi; \
	bin/spirjoin join $(TPCH)/orders.parquet $(TPCH)/lineitem.parquet --on o_orderkey=l_orderkey --device "$$device" -o $(OUTPUT) && \
	echo "wrote $(OUTPUT): TPC-H orders joined with lineitem (scale factor $(SF)) on $$device"

# An answer for a developer, in minutes.
check:
	tools/test.sh static unit

# Every promise, on every driver at hand, in a quarter of an hour.
test:
	tools/setup.sh test
	tools/test.sh

# All pairs of every matrix, whole sweeps, and what takes longest, stage by stage: an hour. With
# SPIRJOIN_MATRIX=full it tries the full product of every matrix, which takes many hours.
test-full:
	tools/setup.sh test
	tools/test.sh --full

generate:
	go generate ./...
	tools/glslc.sh

clean:
	rm -rf bin build run
