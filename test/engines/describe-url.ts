export { describeAddress as describeUrl } from '../../src/connect/address.ts'
