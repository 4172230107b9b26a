// Run js-debug's server, FILE, patched: Node.js does not publish the address of its inspector, and temporary files go
// to FOLDER.
//
//     node js_debug.cjs FOLDER FILE ARGUMENT...
//     node js_debug.cjs --patches FILE            print the rows of the register as JSON, and start nothing
//
// It ends when its stdin does, which dapeer holds open: js-debug's server would wait for the next client for ever.
//
// js-debug leaves a folder behind at each end. Setting TMPDIR would change it for the debugged programs as well.
//
// js-debug makes each process of the program open an inspector at a port. The address has a secret part, which the
// process publishes by HTTP, to any user of the machine. js-debug itself gets the address by another socket, so
// publishing is switched off.
"use strict";

const fs = require("fs");
const Module = require("module");
const os = require("os");
const path = require("path");

const { apply, enter, listed, set } = require("./patching.cjs");

const MILLISECONDS_TO_END_PROGRAMS = 1500;
// Files of one checkout are that much older than others of it.
const MILLISECONDS_OF_A_CHECKOUT = 2000;
const TRIED = ["1.112"];
const folder = process.argv[2];
const lists = folder === "--patches";
const file = path.resolve(process.argv[3]);
process.argv.splice(1, 2);

const temporary = enter({
  name: "js-temporary-files",
  whose: "js-debug",
  tried: TRIED,
  lost: "js-debug leaves a folder among the temporary files behind at each end.",
  apply(row) {
    // js-debug also puts sockets there; the path of a socket has about 100 bytes at most.
    if (Buffer.byteLength(folder) <= 60) {
      set(row, os, "tmpdir", () => folder);
    }
  },
});
apply(temporary);

let source = fs.readFileSync(file, "utf8").replace(/^#!.*/, "");
const address = enter({
  name: "js-inspector-address",
  whose: "js-debug",
  tried: TRIED,
  secures: true,
  lost: "Other users of this machine can learn the address of Node.js's inspector, and run code in the program.",
  apply() {
    // Node.js up to 22 accepts an empty list of places; later versions refuse to start with it.
    const known = /\b(\w+)\.has\(1\)\?(\w+)\.addNodeOption\("--inspect-publish-uid=http"\)/g;
    const better = '$1.has(1)?$2.addNodeOption("--inspect-publish-uid="+($1.version&&$1.version.major<23?",":"http"))';
    const changed = source.replace(known, better);
    if (changed === source) {
      throw new Error("js-debug publishes the address in another way");
    }
    source = changed;
  },
});
apply(address);

/** Replace parts of js-debug's source, all of them or none: each is a pattern and what takes its place. */
function rewrite(parts, what) {
  let changed = source;
  for (const [known, better] of parts) {
    if (!known.test(changed)) {
      throw new Error(`js-debug ${what} in another way`);
    }
    changed = changed.replace(known, better);
  }
  source = changed;
}

const code = enter({
  name: "js-exit-code",
  whose: "js-debug",
  tried: TRIED,
  lost: "The exit code of the program is not known.",
  apply() {
    // js-debug knows it where it has started the process itself, and keeps it to itself.
    const started = /(this\.captureStdio\((\w+)\.dap,(\w+)\)),(?=new \w+\(\3,)/;
    rewrite([[started, '$1,$3.once("exit",code=>code===null||$2.dap.exited({exitCode:code})),']], "starts a process");
  },
});
apply(code);

const logs = enter({
  name: "js-log-points",
  whose: "js-debug",
  tried: TRIED,
  lost: "A log point with a condition stops the program, and one of an attached program prints to its stdout, without quotes around strings.",
  apply() {
    // js-debug forgets the message where there is a condition.
    const chosen = /(getConditionFor\((\w+)\)\{return \2\.condition)\?/;
    const compiled = /(compile\((\w+),(\w+)\)\{.{0,40}this\.logMessageToExpression\(\3)(\).{0,200}this\.logMessageToExpression\(\3)\)/;
    const read = /(logMessageToExpression\(\w+)(\)\{let)/;
    const logged = /`console\.log\((?=\$\{\[JSON\.stringify)/;
    const when = "$when?`(()=>{try{return ${$when}\n}catch(e){console.error('Breakpoint condition error: '+(e.message||e));return false}})()&&`:''";
    // What `console.context` returns writes to debuggers only; `console.log` writes to stdout as well, from which
    // js-debug takes the messages of a launched program. There strings have quotes; a debugger's console has none.
    const told = "this.$attached?'(console.context?.(\"dapeer\")??console)':'console'";
    const value = /\.push\((\w+\(this\.serializeLogStatements\(\w+\.body\)\))\)/;
    const quoted = `(value=>typeof value==="string"?"'"+JSON.stringify(value).slice(1,-1).replaceAll('\\\\"','"').replaceAll("'","\\\\'")+"'":value)`;
    const made = /(this\.logPointCompiler=(\w+);[^{}]*=(\w+)\.__breakOnConditionalError)/;
    rewrite(
      [
        [chosen, (_, before, wanted) => `${before}&&!${wanted}.logMessage?`],
        [compiled, (_, before, wanted, message, between) => `${before},${wanted}.condition${between},${wanted}.condition)`],
        [read, (_, before, rest) => `${before},$when${rest}`],
        [logged, () => `\`\${${when}}\${${told}}.log(`],
        [value, (_, text) => `.push(this.$attached?${JSON.stringify(quoted)}+"("+${text}.replace(/;\\s*$/,"")+")":${text})`],
        [made, (_, all, compiler, options) => `${all};${compiler}.$attached=${options}.request==="attach"`],
      ],
      "makes log points",
    );
  },
});
apply(logs);

const names = enter({
  name: "js-names",
  whose: "js-debug",
  tried: TRIED,
  lost: "In a minified program, conditions and log points do not know the names of the source, nor can a variable that is undefined be evaluated by its own.",
  apply() {
    // js-debug takes the name as it is where the renamed variable is undefined.
    const known = /(\{type:"Identifier",name:(\w+)\}):(\w+)\(\2,(\w+)\)(?=\}\},leave)/;
    // It sets a breakpoint before the program is loaded; the prediction has the map, and the text is on disk.
    const set = /(\.done=\(async\(\)=>\{)(?=let \w+=\w+\((\w+)\)\?await (\w+)\.cdp\(\)\.Debugger\.setBreakpoint\(\2\))/;
    const renamed = (_, before, asked, thread) =>
      `${before}if(${asked}.condition) try{
        const {renameProvider}=${thread}.evaluator,{path}=this.source,{_breakpointsPredictor,_sourceContainer}=this._manager;
        const made=[...await _breakpointsPredictor?.getPredictionForSource(path)??[]];
        const build=made.find(each=>${asked}.urlRegex?new RegExp(${asked}.urlRegex).test(each.compiledPath):${asked}.url?.endsWith(each.compiledPath));
        const load=async({compiledPath,sourceMapUrl:url})=>{
          const inside=typeof url==="string"?[]:Object.getOwnPropertySymbols(url);
          const map=await renameProvider.sourceMapFactory.load({...build,sourceMapUrl:inside.length?url[inside[0]]:url});
          return map?.hasNames?renameProvider.createFromSourceMap(map,require("fs").readFileSync(compiledPath,"utf8")):undefined;
        };
        const kept=renameProvider.$kept??=new Map();
        if(build&&!kept.has(build.compiledPath)) kept.set(build.compiledPath,load(build));
        const loaded=build||${asked}.urlRegex?undefined:_sourceContainer.source(this.source);
        const mapping=await(build?kept.get(build.compiledPath):loaded&&renameProvider.provideForSource(loaded));
        const {lineNumber,columnNumber=0}=${asked}.location??${asked};
        const position={compare:({base0})=>lineNumber-base0.lineNumber||columnNumber-base0.columnNumber};
        if(mapping) ${asked}={...${asked},condition:${thread}.evaluator.replaceVariableInExpression(${asked}.condition,new Map(),{mapping,position}).transformed};
      }catch{}`.replace(/\n +/g, "");
    rewrite([
      [known, (_, renamed, to, either, of) => `${renamed}:${either}(${to},${either}(${of}.name,${renamed}))`],
      [set, renamed],
    ], "renames variables");
  },
});
apply(names);

const builds = enter({
  name: "js-builds",
  whose: "js-debug",
  tried: TRIED,
  lost: "A TypeScript file may run as an old build of it, or as any of several, and nothing says so.",
  apply() {
    // js-debug runs any file whose source map names the program instead of it, also where something runs the source.
    const chosen = /(\w+)\.params\.program&&\(\1\.params\.program=await this\.tryGetCompiledFile\(\1\.params\.program\)\)/;
    const better = (_, run) =>
      `${run}.params.program&&(${run}.params.program=await (async asked=>{
        const {runtimeExecutable="",runtimeArgs=[]}=${run}.params;
        if(/\\b(tsx|ts-node|strip-types|swc|esbuild-register)\\b/.test([runtimeExecutable,...runtimeArgs].join(" "))) return asked;
        let made=await this.tryGetCompiledFile(asked);
        const {statSync}=require("fs"),{parse}=require("path"),at=file=>statSync(file).mtimeMs,named=file=>parse(file).name===parse(asked).name;
        const say=words=>${run}.context.dap.output({category:"important",output:"dapeer: "+made+" runs instead of "+asked+words+"\\n"});
        const all=made===asked?[]:[...new Set([made,...[...await this.bpPredictor.getPredictionForSource(asked)].map(each=>each.compiledPath)])];
        if(all.length>1){
          made=all.sort((one,other)=>named(other)-named(one)||at(other)-at(one))[0];
          say(", one of its "+all.length+" builds. To run another, give its path: "+all.slice(1,4).join(", ")+(all.length>4?", …":""));
        }
        if(made!==asked&&at(made)+${MILLISECONDS_OF_A_CHECKOUT}<at(asked)) say(", and is older. Build it again.");
        return made;
      })(${run}.params.program))`.replace(/\n +/g, " ");
    rewrite([[chosen, better]], "finds compiled files");
  },
});
apply(builds);

const words = enter({
  name: "js-words",
  whose: "js-debug",
  tried: TRIED,
  lost: "What js-debug says of source maps stands in the output as if the program had printed it.",
  apply() {
    rewrite([[/Could not read source map for (?=\{0\}: \{1\})/, "js-debug could not read the source map of "]], "tells of source maps");
  },
});
apply(words);

const page = enter({
  name: "js-page",
  whose: "js-debug",
  tried: TRIED,
  lost: "Attached to a page of a browser, js-debug debugs each other page whose URL begins like its own.",
  apply() {
    const chosen = /(async getTargetFilter\(\w+,(\w+)\)\{)/;
    rewrite([[chosen, "$1if($2.__page)return each=>each.targetId===$2.__page;"]], "chooses pages");
  },
});
apply(page);

const pipes = enter({
  name: "js-named-pipes",
  whose: "js-debug",
  tried: TRIED,
  lost: "A named pipe in place of a source map holds a start up, and nothing says so.",
  apply(row) {
    // js-debug reads each source map of the project before a start, and waits for all of them.
    const { readFile } = fs;
    const read = fs.promises.readFile;
    const check = (name) => {
      const kind = typeof name === "string" && fs.statSync(name, { throwIfNoEntry: false });
      if (kind && (kind.isFIFO() || kind.isCharacterDevice())) {
        throw new Error(`it is a ${kind.isFIFO() ? "named pipe" : "device"}`);
      }
    };
    set(row, fs, "readFile", (name, ...rest) => {
      try {
        check(name);
      } catch (error) {
        return rest.at(-1)(error);
      }
      return readFile(name, ...rest);
    });
    set(row, fs.promises, "readFile", async (name, ...rest) => {
      check(name);
      return read(name, ...rest);
    });
  },
});
apply(pipes);

const workers = enter({
  name: "js-worker-messages",
  whose: "js-debug",
  tried: TRIED,
  lost: "A worker thread of Node.js hangs where its path, a condition or an expression has a letter outside of ASCII.",
  apply() {
    // Node.js spoils such letters on the way to a worker; in JSON they stand in strings only.
    const sent = /(\.NodeWorker\.sendMessageToWorker\(\{message:)(\w+)(?=,)/;
    const escaped = '.replace(/[^\\0-\\x7f]/g,each=>"\\\\u"+each.charCodeAt(0).toString(16).padStart(4,"0"))';
    rewrite([[sent, (_, before, message) => `${before}${message}${escaped}`]], "sends messages to workers");
  },
});
apply(workers);

if (lists) {
  require("./node_tests.cjs");
  process.stdout.write(`${JSON.stringify(listed())}\n`);
} else {
  const server = new Module(file, null);
  server.id = ".";
  server.filename = file;
  server.paths = Module._nodeModulePaths(path.dirname(file));
  process.mainModule = server;
  server._compile(source, file);
  // js-debug ends what it debugs when its client has gone, and needs a moment for it.
  const leave = () => setTimeout(() => process.exit(), MILLISECONDS_TO_END_PROGRAMS);
  process.stdin.on("end", leave).on("error", leave).resume();
}
