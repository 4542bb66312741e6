import { useDeferredValue } from 'react'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import styles from './request.module.css'
import type { RequestDraft } from './request-draft.ts'
import { type RequestFacts, requestText } from './request-text.ts'

// Longer payloads take longer to lay out than to type.
const maxPayload = 20_000

/** Shows the request that will be sent, with the beginning of a long payload. */
export function RequestPreview({ draft, facts }: { draft: RequestDraft; facts: RequestFacts }) {
  const shown = useDeferredValue(draft) // the preview may lag behind the typing
  return (
    <Card label="Request preview">
      <h2 className={styles.title}>Request preview</h2>
      <CodeBlock text={requestText(cut(shown), facts)} label="request" isWrapped />
    </Card>
  )
}

function cut(draft: RequestDraft): RequestDraft {
  if (draft.payload.length <= maxPayload) return draft
  const left = (draft.payload.length - maxPayload).toLocaleString('en')
  return { ...draft, payload: `${draft.payload.slice(0, maxPayload)}\n… and ${left} more characters` }
}
