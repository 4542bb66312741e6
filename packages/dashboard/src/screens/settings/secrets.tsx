import type { ReactNode } from 'react'
import { PageHeader } from '../../ui/page-header.tsx'

export function Secrets(): ReactNode {
  return <PageHeader title="Secrets" />
}
