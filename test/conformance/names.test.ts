import { laws } from '../../src/conformance/laws.ts'
import { describeLaws } from './describe-laws.ts'

const chapters = 'A S'.split(' ')

describeLaws(laws.filter(({ id }) => chapters.includes(id.replace(/\d+$/, ''))))
