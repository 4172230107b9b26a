// Run js-debug's server, FILE, patched: Node.js does not publish the address of its inspector, and temporary files go
// to FOLDER.
//
//     node js_debug.cjs FOLDER FILE ARGUMENT...
//
// js-debug leaves a folder behind at each end. Setting TMPDIR would change it for the debugged programs as well.
//
// js-debug makes each process of the program open an inspector at a port. The address has a secret part, which the
// process publishes by HTTP, to any user of the machine. js-debug itself gets the address by another socket, so
// publishing is switched off. A js-debug with another source runs unpatched.
"use strict";

const fs = require("fs");
const Module = require("module");
const os = require("os");
const path = require("path");

const folder = process.argv[2];
const file = path.resolve(process.argv[3]);
process.argv.splice(1, 2);

// js-debug also puts sockets there; the path of a socket has about 100 bytes at most.
if (Buffer.byteLength(folder) <= 60) {
  os.tmpdir = () => folder;
}

const server = new Module(file, null);
server.id = ".";
server.filename = file;
server.paths = Module._nodeModulePaths(path.dirname(file));
process.mainModule = server;
// Node.js up to 22 accepts an empty list of places; later versions refuse to start with it.
const known = /\b(\w+)\.has\(1\)\?(\w+)\.addNodeOption\("--inspect-publish-uid=http"\)/g;
const better = '$1.has(1)?$2.addNodeOption("--inspect-publish-uid="+($1.version&&$1.version.major<23?",":"http"))';
const source = fs.readFileSync(file, "utf8").replace(/^#!.*/, "").replace(known, better);
server._compile(source, file);
