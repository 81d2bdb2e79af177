/// The texts that an app shows without asking the server, with their English form. Each has a form in every ``ClientLanguage``.
public enum TextKey: String, Sendable, Hashable, CaseIterable {
    // MARK: Status, where the server's displayStatus is not at hand
    /// “Active”
    case statusActive
    /// “Trial”
    case statusTrial
    /// “Cancelled, active until it ends”
    case statusCancelled
    /// “Payment failed, still active”
    case statusGracePeriod
    /// “Payment failed, no access”
    case statusBillingRetry
    /// “Expired”
    case statusExpired
    /// “Trial expired”
    case statusTrialExpired
    /// “Revoked”
    case statusRevoked
    /// “Free”
    case statusFree
    /// “Update the app to see this status”
    case statusUnknown

    // MARK: Plan card and details
    /// “Your plan”
    case planTitle
    /// “Free plan”
    case planFree
    /// “Renews on {date}”
    case planRenewsOn
    /// “Ends on {date}”
    case planEndsOn
    /// “Trial until {date}”
    case planTrialUntil
    /// “Payment failed. Access goes on until {date}”
    case planGraceUntil
    /// “Ended on {date}”
    case planEndedOn
    /// “Yours for good”
    case planForGood
    /// “Details”
    case detailsTitle
    /// “End date”
    case detailEndDate
    /// “Renewal”
    case detailRenewal
    /// “Transaction ID”
    case detailTransaction
    /// “Renews automatically”
    case renewalOn
    /// “Does not renew”
    case renewalOff
    /// “Nothing to renew”
    case renewalNone
    /// “Shown once the app is online”
    case renewalUnknown
    /// “Usage”
    case usageTitle
    /// “{used} of {limit}”
    case usageOfLimit
    /// “Resets {date}”
    case usageResetsOn
    /// “Locked features”
    case lockedTitle
    /// “Included in {tier}”
    case lockedByTier
    /// “Manage subscription”
    case manageSubscription
    /// “You are offline. This is your last known status”
    case statusFromCache

    // MARK: Paywall
    /// “Unlock {tier}”
    case paywallTitle
    /// “Unlock everything”
    case paywallTitleAny
    /// “Loading plans…”
    case paywallLoading
    /// “No plans are available now”
    case paywallEmpty
    /// “Weekly”
    case periodWeek
    /// “Monthly”
    case periodMonth
    /// “Every 2 months”
    case periodTwoMonths
    /// “Quarterly”
    case periodQuarter
    /// “Every 6 months”
    case periodHalfYear
    /// “Yearly”
    case periodYear
    /// “Lifetime”
    case periodLifetime
    /// “Fixed term”
    case periodTerm
    /// “{price}/week”
    case pricePerWeek
    /// “{price}/month”
    case pricePerMonth
    /// “{price} every 2 months”
    case pricePerTwoMonths
    /// “{price} every 3 months”
    case pricePerQuarter
    /// “{price} every 6 months”
    case pricePerHalfYear
    /// “{price}/year”
    case pricePerYear
    /// “{price}, paid once”
    case priceOnce
    /// “Only {price} a day”
    case pricePerDay
    /// “Save {percent}”
    case saving
    /// “Most popular”
    case popular
    /// “Start your 1-day free trial / Start your {count}-day free trial”
    case trialStartDays
    /// “Start your 1-week free trial / Start your {count}-week free trial”
    case trialStartWeeks
    /// “Start your 1-month free trial / Start your {count}-month free trial”
    case trialStartMonths
    /// “Start your 1-year free trial / Start your {count}-year free trial”
    case trialStartYears
    /// “Then {price}. Cancel before the trial ends and you pay nothing”
    case trialNotice
    /// “Cancel before the trial ends and you pay nothing”
    case trialNoticeAny
    /// “{price} for the first {duration}”
    case offerPayUpFront
    /// “{price} each period for the first {duration}”
    case offerPayAsYouGo
    /// “Try {tier} free for 1 day / Try {tier} free for {count} days”
    case ownTrialStart
    /// “Subscribe”
    case subscribe
    /// “Buy”
    case buy
    /// “Your current plan”
    case currentPlan
    /// “Restore purchases”
    case restorePurchases
    /// “Privacy policy”
    case privacyPolicy
    /// “Terms of service”
    case termsOfService
    /// “Renews automatically until you cancel. You can cancel at any time in the App Store”
    case renewsUntilCancelled
    /// “{feature}: {amount}”
    case highlight
    /// “Compare plans”
    case comparisonTitle
    /// “Feature”
    case comparisonFeature
    /// “Included”
    case cellIncluded
    /// “Not included”
    case cellNotIncluded
    /// “Unlimited”
    case cellUnlimited
    /// “{amount} a day”
    case cellPerDay
    /// “{amount} a month”
    case cellPerMonth
    /// “{amount} in total”
    case cellInTotal
    /// “Thank you. {tier} is unlocked”
    case purchaseDone
    /// “Thank you for your purchase”
    case purchaseDoneAny
    /// “Your purchase waits for approval. It opens by itself once it is approved”
    case purchasePending

    // MARK: Restoring
    /// “Restore purchases”
    case restoreTitle
    /// “Bring back what you have bought”
    case restoreIdle
    /// “Restoring your purchases…”
    case restoring
    /// “1 purchase was restored / {count} purchases were restored”
    case restoreDone
    /// “No subscription was found for this Apple Account”
    case restoreNothing
    /// “Your purchases could not be restored”
    case restoreFailed
    /// “How restoring works”
    case restoreGuideTitle
    /// “Restore after you have reinstalled the app, changed your device, or when your subscription does not show”
    case restoreGuideWhen
    /// “Sign in to the App Store with the Apple Account that you bought with”
    case restoreGuideAccount
    /// “Stay online until it is done”
    case restoreGuideOnline
    /// “Does it still not show? Contact support”
    case restoreGuideSupport

    // MARK: Expired
    /// “Your subscription has expired”
    case expiredTitle
    /// “Your trial has ended”
    case expiredTrialTitle
    /// “Your purchase was revoked”
    case expiredRevokedTitle
    /// “Expired on {date}”
    case expiredOn
    /// “Renew to go on. Your data is kept”
    case expiredMessage
    /// “Access ended with the refund or revocation. Your data is kept”
    case expiredRevokedMessage
    /// “Renew now”
    case renewNow

    // MARK: Renewal banner
    /// “Your subscription ends in 1 day / Your subscription ends in {count} days”
    case bannerEndsInDays
    /// “Your subscription ends today”
    case bannerEndsToday
    /// “Your trial ends in 1 day / Your trial ends in {count} days”
    case bannerTrialEndsInDays
    /// “Your trial ends today”
    case bannerTrialEndsToday
    /// “Your payment failed. Update your payment method to keep access”
    case bannerGrace
    /// “Renew”
    case bannerRenew
    /// “Subscribe”
    case bannerSubscribe
    /// “Update payment method”
    case bannerUpdatePayment

    // MARK: Gate
    /// “Upgrade to {tier} to use {feature}.”
    case gateTierRequired
    /// “{feature} is not part of your plan.”
    case gateNotInAnyTier
    /// “{feature}: the {amount} of today is used. Upgrade to {tier} for more. / {feature}: all {amount} of today are used. Upgrade to {tier} for more.”
    case gateLimitDay
    /// “{feature}: the {amount} of this month is used. Upgrade to {tier} for more. / {feature}: all {amount} of this month are used. Upgrade to {tier} for more.”
    case gateLimitMonth
    /// “{feature}: the {amount} is used. Upgrade to {tier} for more. / {feature}: all {amount} are used. Upgrade to {tier} for more.”
    case gateLimitTotal
    /// “{feature}: the {amount} of today is used. / {feature}: all {amount} of today are used.”
    case gateLimitDayLast
    /// “{feature}: the {amount} of this month is used. / {feature}: all {amount} of this month are used.”
    case gateLimitMonthLast
    /// “{feature}: the {amount} is used. / {feature}: all {amount} are used.”
    case gateLimitTotalLast
    /// “{feature}: only 1 left today. / {feature}: only {count} left today.”
    case gateLeftDay
    /// “{feature}: only 1 left this month. / {feature}: only {count} left this month.”
    case gateLeftMonth
    /// “{feature}: only 1 left. / {feature}: only {count} left.”
    case gateLeftTotal
    /// “Go online once so that the app can read your plan.”
    case gateNotKnown
    /// “Upgrade”
    case upgrade

    // MARK: Errors
    /// “That did not work”
    case errorTitle
    /// “No connection. Check your network and try again”
    case errorNetwork
    /// “The purchase could not be verified, so it was not applied”
    case errorVerification
    /// “Something went wrong. If it happens again, contact support”
    case errorUnknown
    /// “This purchase belongs to another account. Sign in with that account, or contact support”
    case errorOtherAccount
    /// “Please sign in again”
    case errorSignIn
    /// “Too many requests. Try again in a moment”
    case errorBusy
    /// “This product is not available”
    case errorProduct
    /// “The answer could not be read. Your last known status stays”
    case errorCachedStatus
    /// “The kept status could not be read. Go online or restore your purchases”
    case errorFreeUntilRead
    /// “This account cannot start a trial”
    case errorTrialRefused
    /// “Try again”
    case retry
    /// “Contact support”
    case contactSupport
    /// “Sign in”
    case signInAgain
    /// “OK”
    case dismiss
}
