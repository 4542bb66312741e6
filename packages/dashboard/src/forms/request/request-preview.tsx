import type { ReactNode } from 'react'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'

import styles from './request.module.css'
import type { RequestDraft } from './request-draft.ts'
import { type RequestFacts, requestText } from './request-text.ts'

/** Shows the request that will be sent. */
export function RequestPreview({ draft, facts }: { draft: RequestDraft; facts: RequestFacts }): ReactNode {
  return (
    <Card label="Request preview">
      <h2 className={styles.title}>Request preview</h2>
      <CodeBlock text={requestText(draft, facts)} label="request" isWrapped />
    </Card>
  )
}
