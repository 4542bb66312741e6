import type { Fault, Focus, TorturePlan } from '../plan.ts'

/** A defect that was once in the product, and the part of the instrument that has to find it. Its patch has the same name. */
export type Defect = {
  id: string
  /** The comparisons of PostgreSQL with the model, in the order in which they run. Default: none. */
  model?: readonly ModelRun[]
  /**
   * The part of the torture that the defect needs, and the complaint that names it: another one may come from a busy machine.
   * Default: the model finds it.
   */
  torture?: Focus & { minutes: number; fits?: (plan: TorturePlan) => boolean; complaint: RegExp }
}

/** A file below prisma/test/model, and a part of the titles of its tests. */
export type ModelRun = readonly [file: 'model.sql.test.ts' | 'queues.long.ts', title: string]

const small = [['model.sql.test.ts', 'PostgreSQL agrees']] as const
// All of it takes minutes.
const ofQueues = (title: string) => [['queues.long.ts', title]] as const

const isDispatcher = (fault: Fault) => 'process' in fault && fault.process.startsWith('dispatcher')
const isBehind = (fault: Fault) =>
  fault.does === 'clock' && isDispatcher(fault) && fault.stepS <= -60 && fault.forMs > 10_000
const isLongFreeze = (fault: Fault) => fault.does === 'freeze' && isDispatcher(fault) && fault.forMs > 14_000
const isHung = (fault: Fault) => fault.does === 'hang commits' && fault.forMs > 12_000

/** All of them, in the order of the reviews that found them. */
export const defects: readonly Defect[] = [
  { id: 'V01', model: small },
  { id: 'V02', model: small },
  { id: 'V03', model: ofQueues('below the floor') },
  { id: 'V04', model: small },
  {
    id: 'V05',
    torture: {
      complaint: /^I[57]: /,
      minutes: 1,
      ...{ kinds: ['plain', 'stopped'], perSecond: 5 },
      faults: isLongFreeze,
      fits: ({ load }) => load.filter(({ does }) => does === 'burst').length > 0,
    },
  },
  { id: 'V06', model: ofQueues('when the queue is woken') },
  { id: 'V07', model: small },
  { id: 'V08', model: ofQueues('restored') },
  {
    id: 'V09',
    torture: {
      complaint: /^I15: .* behind the replay/,
      minutes: 0.7,
      kinds: ['plain', 'again'],
      perSecond: 4,
      faults: ({ does }) => does === 'flush Redis',
    },
  },
  {
    id: 'V10',
    torture: {
      complaint: /^I18: .* at once of its host/,
      minutes: 0.8,
      ...{ kinds: ['slow'], perSecond: 1.3, isAlone: true, settings: { HOST_CONCURRENCY: '2' } },
      faults: fault => fault.does === 'kill' && isDispatcher(fault) && fault.forMs < 2_000,
      fits: ({ faults }) => faults.some(({ at }) => at > 8_000 && at < 20_000) && faults.length < 3,
    },
  },
  {
    id: 'V11',
    torture: {
      complaint: /^I18: .* of its host in a second/,
      minutes: 0.5,
      ...{ kinds: ['plain'], perSecond: 0.9, isAlone: true, settings: { HOST_RATE: '1' } },
      faults: ({ does }) => does === 'flush Redis',
    },
  },
  {
    id: 'V12',
    torture: {
      complaint: /^I18: .* of the queue rated/,
      minutes: 0.25,
      kinds: ['rated'],
      perSecond: 2,
      isAlone: true,
      faults: ({ does }) => does === 'flush Redis',
    },
  },
  { id: 'V13', model: small },
  { id: 'E01', model: small },
  { id: 'E02', model: small },
  { id: 'E03', model: small },
  { id: 'E04', model: small },
  {
    id: 'E05',
    torture: {
      complaint: /no next occurrence/,
      minutes: 1.5,
      kinds: ['plain'],
      perSecond: 5,
      faults: fault => fault.does === 'hide time zones' && fault.forMs > 76_000,
      fits: ({ faults }) => faults.some(({ at }) => at < 10_000),
    },
  },
  {
    id: 'E06',
    torture: {
      complaint: /exited with code 1/,
      minutes: 1.5,
      kinds: ['plain'],
      perSecond: 5,
      faults: fault =>
        (fault.does === 'kill Redis' && fault.forMs > 35_000) || (fault.does === 'terminate' && isDispatcher(fault)),
      fits: ({ faults }) =>
        faults.some(
          away =>
            away.does === 'kill Redis' &&
            faults.some(({ does, at }) => does === 'terminate' && at > away.at && at < away.at + away.forMs - 33_000),
        ),
    },
  },
  // It costs only time, which neither of them measures.
  { id: 'E07', model: small },
  {
    id: 'E08',
    torture: {
      complaint: /^lateness: /,
      minutes: 0.7,
      kinds: ['plain'],
      perSecond: 5,
      isAlone: true,
      faults: isBehind,
      fits: ({ faults }) => faults.some(isBehind),
    },
  },
  {
    id: 'E09',
    torture: {
      complaint: /^I5: /,
      minutes: 0.5,
      kinds: ['plain'],
      perSecond: 5,
      isAlone: true,
      faults: isHung,
      fits: ({ faults }) => faults.some(isHung),
    },
  },
  { id: 'E10', model: small },
]
