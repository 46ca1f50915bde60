import { init as initSqlparser, Parser as SqlparserParser } from '@guanmingchiu/sqlparser-ts'
import polyglot from '@polyglot-sql/sdk'
import antlr from 'antlr4ts-sql'
import nodeSqlParser from 'node-sql-parser'

/** A T-SQL parser that knows nothing of the others. `problem` is its complaint, or undefined when it accepts. */
export interface TsqlParser {
  readonly name: string
  readonly problem: (text: string) => string | undefined
}

/** Four grammars by four authors. None is complete: the test asks that no statement rests on fewer than two. */
export async function tsqlParsers(): Promise<readonly TsqlParser[]> {
  await initSqlparser()
  await polyglot.init()
  return [
    { name: 'node-sql-parser', problem: nodeSqlParserProblem },
    { name: 'antlr4ts-sql', problem: antlrProblem },
    { name: 'sqlparser-ts', problem: (text) => thrown(() => SqlparserParser.parse(text, 'mssql')) },
    { name: 'polyglot', problem: (text) => polyglot.parse(text, polyglot.Dialect.TSQL).error ?? undefined },
  ]
}

/** The strict one about the names of hints. */
function nodeSqlParserProblem(text: string): string | undefined {
  return thrown(() => new nodeSqlParser.Parser().parse(text, { database: 'transactsql' }))
}

/** The widest grammar; it knows keywords in upper case only. */
function antlrProblem(text: string): string | undefined {
  const problems: string[] = []
  const listener = {
    syntaxError: (...[, , , , message]: [unknown, unknown, number, number, string]) => problems.push(message),
  }
  const lexer = new antlr.TSqlLexer(new antlr.ANTLRInputStream(text.toUpperCase()))
  const parser = new antlr.TSQLGrammar.TSqlParser(new antlr.CommonTokenStream(lexer))
  for (const recognizer of [lexer, parser]) {
    recognizer.removeErrorListeners()
    recognizer.addErrorListener(listener)
  }
  parser.tsql_file()
  return problems[0]
}

function thrown(parse: () => unknown): string | undefined {
  try {
    parse()
    return undefined
  } catch (error) {
    return String(error)
  }
}
