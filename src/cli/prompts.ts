import { updateSettings } from "@clack/prompts";

export { confirm, isCancel, select, text } from "@clack/prompts";

// Ctrl-D closes the input of a question, which then would never be answered: it cancels, as Ctrl-C does.
updateSettings({ aliases: { "\u0004": "cancel" } });
