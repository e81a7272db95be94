import assert from "node:assert/strict";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import type { BridgeContext, DeliveryResult } from "../../../src/bridges/contract.ts";
import { type NotifyBridgeOptions, notifyBridge } from "../../../src/bridges/notify/bridge.ts";
import type { ActionPayload, Notification, PluginAction } from "../../../src/hooks/contexts/event-types.ts";
import { quietContext } from "../bridge-fixture.ts";

export const NOW = Date.parse("2026-03-01T12:00:00Z");

export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** A real server; `answer` decides by path, the default is 200. */
export async function startServer(t: TestContext, answer?: (path: string, response: ServerResponse) => void) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const path = request.url ?? "";
    received.push({ path, headers: request.headers, body: JSON.parse(await text(request)) });
    if (answer) answer(path, response);
    else response.end("ok");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { received, server, url: (path: string) => `http://127.0.0.1:${port}${path}` };
}

export function temporary(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), "prloom-notify-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A program on a PATH of its own that writes down how it was called: arguments end with NUL. */
export function writeNotifier(dir: string, name: string, then = "exit 0"): void {
  const file = join(dir, name);
  const script = `#!/bin/sh\nfor word in "$@"; do printf '%s\\0' "$word" >> "${dir}/${name}.args"; done\n${then}\n`;
  writeFileSync(file, script);
  chmodSync(file, 0o755);
}

export interface Told {
  readonly planId?: string;
  readonly level: string;
  readonly text: string;
}

/** The bridge with a recording report. */
export function setUp(options: Partial<NotifyBridgeOptions>) {
  const reports: Told[] = [];
  const bridge = notifyBridge({
    notify: undefined,
    environment: {},
    report: (line) => reports.push(line),
    clock: { now: () => NOW },
    ...options,
  });
  const deliver = async (action: PluginAction, change: Partial<BridgeContext> = {}): Promise<DeliveryResult> => {
    const result = await bridge.actions?.({ ...quietContext, ...change }, action);
    assert.ok(result);
    return result;
  };
  return { bridge, reports, deliver };
}

export function human(payload: ActionPayload, id = "act-1"): PluginAction {
  return { id, type: "respond", target: { target: "human" }, payload };
}

export function notice(change: Partial<Notification> = {}, id = "act-1"): PluginAction {
  return human({ type: "notification", priority: "action", title: "Review it", message: "Plan alpha", ...change }, id);
}
