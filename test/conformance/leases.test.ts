import { laws } from '../../src/conformance/laws.ts'
import { describeLaws } from './describe-laws.ts'

const chapters = 'L P'.split(' ')

describeLaws(laws.filter(({ id }) => chapters.includes(id.replace(/\d+$/, ''))))
