// node in_pyodide.cjs PYODIDE SCRIPT FOLDER...: run a Python script inside Pyodide. It sees the
// folders as "/0", "/1" and so on: they are its arguments.
const fs = require("node:fs");
const path = require("node:path");

const [pyodide, script, ...folders] = process.argv.slice(2).map((each) => path.resolve(each));
const { loadPyodide } = require(path.join(pyodide, "pyodide.js"));

async function main() {
  const lockFileURL = path.join(__dirname, "..", "lite", "pyodide-packages.json");
  const python = await loadPyodide({ indexURL: pyodide, lockFileURL });
  folders.forEach((root, number) => {
    python.FS.mkdir(`/${number}`);
    python.FS.mount(python.FS.filesystems.NODEFS, { root }, `/${number}`);
  });
  python.globals.set("arguments", python.toPy([script, ...folders.keys()].map(String)));
  python.runPython(`
import sys
sys.argv = [arguments[0], *(f"/{number}" for number in arguments[1:])]`);
  python.runPython(fs.readFileSync(script, "utf8"), { filename: script });
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
