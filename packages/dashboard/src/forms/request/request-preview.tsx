import type { ReactNode } from 'react'
import { Card } from '../../ui/card.tsx'
import { CodeBlock } from '../../ui/code-block.tsx'
import { previewRequest, type RequestFacts } from './preview-request.ts'
import styles from './request.module.css'
import type { RequestDraft } from './request-draft.ts'

/** The request as it will go out. */
export function RequestPreview({ draft, facts }: { draft: RequestDraft; facts: RequestFacts }): ReactNode {
  return (
    <Card label="Preview of the request">
      <h2 className={styles.title}>What is sent</h2>
      <CodeBlock text={previewRequest(draft, facts)} label="request" isWrapped />
    </Card>
  )
}
