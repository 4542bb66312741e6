import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function ApiKeys(): ReactNode {
  return <PageHeader title="API keys" />
}
