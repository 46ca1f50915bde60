import { casesOnEngines, describePages, enginesHere } from './pages.ts'

/* The other half of docs.test.ts. */
const engines = enginesHere(['mysql', 'mariadb', 'mssql', 'mongodb'])

await describePages((plan) => casesOnEngines(plan, engines))
