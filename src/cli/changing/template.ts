/** What `prloom new` opens in the editor. */
export const TEMPLATE = `# 

<!-- Write the title above, here what is to be done and why, and below what to do, step by step; without TODOs the
designer agent makes them. Leave this as it is, or empty the file, and no plan is made. -->

## TODO

- [ ] 
`;

/** Pure: the plan that a person wrote into the template; undefined if there is nothing but the template. */
export function planFromTemplate(text: string): string | undefined {
  const comment = TEMPLATE.slice(TEMPLATE.indexOf("<!--"), TEMPLATE.indexOf("-->") + 3);
  const lines = text
    .replaceAll("\r\n", "\n")
    .replace(comment, "")
    .split("\n")
    .filter((line) => !/^(?:[-*+] \[ \]|#)\s*$/.test(line));
  const own = lines
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim()
    // Its own empty section would say that there is nothing to do.
    .replace(/(?:^|\n)## TODO$/, "")
    .trim();
  return own === "" ? undefined : `${own}\n`;
}
