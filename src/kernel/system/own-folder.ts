/** The folder that prloom's code and prompts lie in: `src` of a checkout, or that of the bundles. */
export const OWN_FOLDER = new URL(import.meta.url.endsWith(".ts") ? "../../" : "./", import.meta.url);
