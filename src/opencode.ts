import { server } from "./hosts/opencode/server.ts";

/** The plugin that OpenCode loads for a run of prloom. */
// biome-ignore lint/style/noDefaultExport: OpenCode takes no other export.
export default { id: "prloom", server };
