import assert from "node:assert/strict";
import { it } from "node:test";
import { hostOf } from "../../../src/github/client/tokens.ts";
import { webUrl } from "../../../src/github/forge/remote.ts";

it("git, and gh, find the site that an API belongs to", () => {
  const sites = {
    "https://api.github.com": "https://github.com",
    "https://github.example.com/api/v3": "https://github.example.com",
    "https://api.example.com/api/v3": "https://api.example.com",
    "https://api.octo-corp.ghe.com": "https://octo-corp.ghe.com",
    "http://127.0.0.1:8080/api/v3": "http://127.0.0.1:8080",
  };
  for (const [api, site] of Object.entries(sites)) {
    assert.equal(webUrl(api), site);
    assert.equal(hostOf(api), new URL(site).host);
  }
});
