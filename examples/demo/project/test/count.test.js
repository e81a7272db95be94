import assert from "node:assert/strict";
import { test } from "node:test";
import { countWords } from "../src/count.js";

test("counts words, not blanks or punctuation", () => {
  assert.equal(countWords("It's  a test — really!"), 4);
});

test("an empty text has no words", () => {
  assert.equal(countWords(""), 0);
});
