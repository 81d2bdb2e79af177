import AppStoreServerAPI

/// What a failure says about an answer that was or should have been sent to Apple. Apple cannot be asked what it has,
/// and does not say what a second answer about a transaction does to the first: so an answer is sent again only if
/// Apple certainly has not taken it.
enum ConsumptionFailure: Sendable, Hashable {
    /// Apple will not take it.
    case refused
    /// Apple has not taken it, and may later.
    case notTaken
    /// Apple may have it.
    case unknown

    /// How often Apple may say that it does not know the transaction: it learns of fresh ones late.
    private static let patienceWithUnknownIDs = 5

    /// - Parameter attempts: claims so far.
    init(_ failure: AppStoreFailure, attempts: Int) {
        guard failure.attempts > 0 else {
            self = .notTaken
            return
        }
        switch failure.reason {
        case .apple(let code):
            switch code.behaviour {
            // Apple's own errors state that it did not take the answer. Of 5000001, 4290000, and those of 404 that may
            // pass Apple says that they may be tried again; of 5000000 ("an unknown error occurred") it does not. It is
            // treated the same here, unlike for extensions: a second answer costs nothing, and otherwise an outage of
            // Apple's would leave all requests of that time unanswered for good.
            case .retry, .slowDown, .beginAgain: self = .notTaken
            case .elsewhereOrSoon:
                self = attempts < Self.patienceWithUnknownIDs ? .notTaken : .refused
            case .giveUp: self = code == .appNotFound ? .notTaken : .refused
            // A code of a later day: its status decides.
            case nil:
                self =
                    switch code.rawValue / 10_000 {
                    case 400, 403, 404: .refused
                    case 503: .notTaken
                    case 500...: .unknown
                    default: .notTaken
                    }
            }
        case .status(let status):
            self =
                switch status {
                // Without a code the request is malformed. (App Store Server API, Send Consumption Information)
                case 400: .refused
                // Turned away: "the server is currently unable to handle the request". (RFC 9110, 15.6.4)
                case 503: .notTaken
                // A gateway that does not know what the server behind it has done, or a server that failed anywhere on its way.
                case 500...: .unknown
                default: .notTaken
                }
        case .unreachable(let fault): self = fault.isPerhapsHeard ? .unknown : .notTaken
        case .unauthorized, .rateLimited, .notInThisEnvironment, .unusableKey, .receipt: self = .notTaken
        // A status 2xx with something else than Apple sends.
        case .outcomeUnknown, .refused, .unreadable: self = .unknown
        }
    }
}
