// Patterns as the rules run them: read as RE2 reads them, whichever way they run, and never slow.
import { rules, type Situation } from '@svc/engine'
import { baseline } from '@svc/library'
import { describe, expect, it } from 'vitest'
import { hostilePatterns, LENGTH } from '../support/hostile-patterns.js'
