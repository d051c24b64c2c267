// Asks Neo4j's own parser and semantic analysis about scripts of Cypher 5: a list of texts in, a list of answers out.
const { lintCypherQuery } = require("@neo4j-cypher/language-support");

const scripts = JSON.parse(require("fs").readFileSync(0, "utf8"));
const answers = scripts.map((script) => {
  const { diagnostics, symbolTables } = lintCypherQuery(script.trimEnd().replace(/;$/, ""), { defaultLanguage: "CYPHER 5" });
  return { faults: diagnostics.map((each) => each.message), statements: symbolTables.length };
});
process.stdout.write(JSON.stringify(answers));
