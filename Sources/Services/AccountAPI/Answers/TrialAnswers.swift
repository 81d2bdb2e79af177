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
            .init("tier") { $0.tier },
            .read("tierName") { $1.name(ofTier: $0.tier) },
            .init("days", "How many days of 24 hours.") { $0.days },
            .read("products", "The products that it is offered with, by Apple's ids.") { trial, reader in
                trial.products.compactMap { reader.catalog.product(id: $0)?.productID }
            },
        ])

    /// `GET /v1/subscriptions/trial/eligibility`
    static let eligibility = AccountShape<TrialEligibility>(
        "TrialEligibility",
        [
            .init("eligible") { $0.isEligible },
            .init("reason", "Why not.") { $0.reason },
            .read("trial", .nullable(offer.schema), "What the catalog offers.") { _, reader in
                reader.catalog.trial.map { offer.value(of: $0, for: reader) } ?? .null
            },
        ])
}
