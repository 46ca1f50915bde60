import { laws } from '../../src/conformance/laws.ts'
import { describeLaws } from './describe-laws.ts'

const chapters = 'L'.split(' ')

describeLaws(laws.filter(({ id }) => chapters.includes(id.replace(/\d+$/, ''))))
