#!/usr/bin/env node
// The launcher: checks Node's version before anything that an older one can't even parse, then runs the command line.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `latchkey needs Node 24.15 or newer, this is ${process.versions.node}: in a checkout run "npx latchkey", which brings its own.\n`,
  );
  process.exit(1);
}
// Shipped code is built to JavaScript beside this file's folder; a checkout runs the TypeScript as it is.
const { existsSync } = await import('node:fs');
const built = new URL('../latchkey.js', import.meta.url);
const { latchkeyMain } = await import(existsSync(built) ? built.href : new URL('../latchkey.ts', import.meta.url).href);
process.exitCode = await latchkeyMain(process.argv.slice(2));
