export { intoMongodbDatabase } from '../../src/connect/drivers/mongodb-address.ts'
