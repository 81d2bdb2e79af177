import APIKit
import Accounts
import AppStorePayloads
import Base

/// What is answered about the app's own trial, which is not one of Apple's introductory offers.
enum TrialAnswers {
    /// What is offered.
    static let offer = AccountShape<Catalog.Trial>(
        "TrialOffer",
        [
            .init("tier", .text) { .string($0.tier) },
            .read("tierName", .text) { .string($1.name(ofTier: $0.tier)) },
            .init("days", .integer(), "How many days of 24 hours.") { .integer(Int64($0.days)) },
            .read("products", .array(.text), "The products that it is offered with, by Apple's ids.") { trial, reader in
                .array(trial.products.compactMap { reader.catalog.product(id: $0).map { .string($0.productID) } })
            },
        ])

    /// `GET /v1/subscriptions/trial/eligibility`
    static let eligibility = AccountShape<TrialEligibility>(
        "TrialEligibility",
        [
            .init("eligible", .boolean) { .bool($0.isEligible) },
            .init("reason", .nullable(.choice(TrialEligibility.Reason.allCases.map(\.rawValue))), "Why not.") {
                .text($0.reason?.rawValue)
            },
            .read("trial", .nullable(offer.schema), "What the catalog offers.") { _, reader in
                reader.catalog.trial.map { offer.value(of: $0, for: reader) } ?? .null
            },
        ])

    /// `GET /v1/subscriptions/trial/status`, and `POST /v1/subscriptions/trial/start`
    static let status = AccountShape<AccountPicture>(
        "TrialStatus",
        [
            .init("started", .boolean, "Whether the account has ever started it.") { .bool($0.trial != nil) },
            .init("isActive", .boolean, "Whether it is the trial that gives access now.") {
                .bool($0.source == .trial && $0.access)
            },
            .init("tier", .nullable(.text)) { .text($0.trial?.tier) },
            .init("trialStartedAt", .nullable(.time)) { .time($0.trial?.startedAt) },
            .init("trialEndsAt", .nullable(.time)) { .time($0.trial?.endsAt) },
            .init("daysLeft", .nullable(.integer()), "Each day that has begun counted; 0 when it is over.") { picture in
                picture.trial.map { .integer($0.endsAt.daysLeft(at: picture.instant)) } ?? .null
            },
            .init("convertedAt", .nullable(.time), "When a purchase took its place.") { .time($0.trial?.convertedAt) },
            .init("status", AccountWords.statuses, "Of the account.") { .string($0.status.rawValue) },
        ])
}
