import { PlatformError } from '../../errors.js'

export function unknownAction(): PlatformError {
  return new PlatformError('NOT_FOUND', 'no such action: GET /api/v1/actions lists them')
}

export function unknownDelivery(): PlatformError {
  return new PlatformError(
    'NOT_FOUND',
    'no such delivery: GET /api/v1/actions/{id}/deliveries lists those of the last 30 days',
  )
}
