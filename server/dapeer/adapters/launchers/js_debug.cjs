// Run js-debug's server, FILE, which has Node.js tell nobody where its inspector listens, and which keeps its temporary
// files in FOLDER.
//
//     node js_debug.cjs FOLDER FILE ARGUMENT...
//
// It leaves a folder behind at each end. No variable is changed: the programs that it starts have the user's own folder.
//
// js-debug has each process of the program open an inspector at a port, and tell the whole address, which has a secret
// part, to whoever asks by HTTP: any user of the machine. It gets the address by a socket of its own, so nobody else
// has to be told. Where its source is not as this knows it, it runs as it is.
"use strict";

const fs = require("fs");
const Module = require("module");
const os = require("os");
const path = require("path");

const folder = process.argv[2];
const file = path.resolve(process.argv[3]);
process.argv.splice(1, 2);

// It makes sockets there, whose paths have some hundred bytes at most.
if (Buffer.byteLength(folder) <= 60) {
  os.tmpdir = () => folder;
}

const server = new Module(file, null);
server.id = ".";
server.filename = file;
server.paths = Module._nodeModulePaths(path.dirname(file));
process.mainModule = server;
// Node.js up to 22 takes a list of no places; later ones refuse to start with that.
const known = /\b(\w+)\.has\(1\)\?(\w+)\.addNodeOption\("--inspect-publish-uid=http"\)/g;
const better = '$1.has(1)?$2.addNodeOption("--inspect-publish-uid="+($1.version&&$1.version.major<23?",":"http"))';
const source = fs.readFileSync(file, "utf8").replace(/^#!.*/, "").replace(known, better);
server._compile(source, file);
