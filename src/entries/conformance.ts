export { features, isFeature, type Feature } from '../conformance/feature.ts'
export { openGround, type Ground } from '../conformance/ground.ts'
export { BrokenLawError } from '../conformance/broken-law.ts'
export type { Facts } from '../conformance/facts.ts'
export {
  defineLaw,
  type InterleavedLaw,
  type Law,
  type ScheduleLaw,
  type TrialLaw,
} from '../conformance/law.ts'
export { laws } from '../conformance/laws.ts'
export { unlocked } from '../conformance/controls.ts'
export type {
  LawResult,
  MatrixCell,
  Report,
  SubjectReport,
  TraceEvent,
  Verdict,
} from '../conformance/report.ts'
export { reporters, type Reporter, type ReporterName } from '../conformance/reporters/reporters.ts'
export { runLaw, type LawRun } from '../conformance/run-law.ts'
export { session, type SessionSteps } from '../conformance/session-steps.ts'
export type { Stage } from '../conformance/stage.ts'
export type { Action } from '../conformance/action.ts'
export type { Expectation, Step, StepData } from '../conformance/step.ts'
export type { Client, Connected, Sabotage, Subject } from '../conformance/subject.ts'
export { verify, type VerifyOptions, type VerifyProgress } from '../conformance/verify.ts'
export { ConnectError } from '../connect/connect-error.ts'
export { openEmbedded, type Embedded } from '../connect/embedded.ts'
export type { OpenLocks, OwnLocks } from '../connect/own-locks.ts'
export { openScratch, type ScratchOptions, type ScratchSubject } from '../connect/scratch.ts'
