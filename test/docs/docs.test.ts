import { casesOfPage, casesOnEngines, describePages, enginesHere } from './pages.ts'

/*
 * Every block of code in README.md and docs/ runs, or is checked, or says on the page why not. README.md beside this file
 * says what can be written behind the ticks and in comments.
 *
 *   npx vitest run test/docs                                                  everything
 *   HOLDFAST_ENGINES=sqlite,postgres npx vitest run test/docs -t row-locks    one page, on two engines
 *
 * A program has the process to itself while it runs, so two files share the engines between them: they run at once.
 */
const engines = enginesHere(['postgres', 'sqlite', 'duckdb'])

await describePages((plan) => [...casesOfPage(plan), ...casesOnEngines(plan, engines)])
