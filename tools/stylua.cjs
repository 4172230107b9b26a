// Formats Lua files with StyLua. Arguments: its package, `check` or `write`, its options as JSON, the files.
const { readFileSync, writeFileSync } = require("node:fs");

const [folder, mode, given, ...files] = process.argv.slice(2);
const { Config, IndentType, LuaVersion, OutputVerification, QuoteStyle, formatCode } = require(folder);
const options = JSON.parse(given);

function config() {
  const made = Config.new();
  made.syntax = LuaVersion[options.syntax];
  made.column_width = options.column_width;
  made.indent_type = IndentType[options.indent_type];
  made.indent_width = options.indent_width;
  made.quote_style = QuoteStyle[options.quote_style];
  return made;
}

for (const file of files) {
  const before = readFileSync(file, "utf8");
  const after = formatCode(before, config(), undefined, OutputVerification.None);
  if (before !== after) {
    console.log(file);
    process.exitCode = 1;
    if (mode === "write") writeFileSync(file, after);
  }
}
