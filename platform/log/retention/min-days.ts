/** The shortest retention, in days: six calendar months have at most as many (AI Act, Articles 19 and 26(6)). */
export const minRetentionDays = 184
