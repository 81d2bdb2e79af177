import AppStorePayloads
import Base

/// What an answer asks for. Each of Apple's two protocols has a reader of its own; what follows is the same for both, see ``Exchange``.
enum AnswerMeaning: Sendable {
    /// It is the answer.
    case done
    /// Asking again would be answered alike.
    case failed(AppStoreFailure.Reason)
    /// The failure may pass: ask again. `isPerhapsDone`: it leaves open whether Apple did what was asked.
    case passing(AppStoreFailure.Reason, isPerhapsDone: Bool)
    /// This environment does not know the id, or not yet.
    case unknownID(ServerErrorCode)
    /// The receipt is of that environment; the reason counts where that environment cannot be asked.
    case belongs(to: Environment, AppStoreFailure.Reason)
    /// Too many requests; with the header `Retry-After` as it stands.
    case tooMany(retryAfter: String?)
    /// The token was refused, with a code of Apple's or without.
    case tokenRefused(ServerErrorCode?)
}

extension AnswerMeaning {
    /// Reads an answer of the Server API: the status says whether there is an answer, and an `errorCode` in the body why not.
    init(serverAPI answer: TransportAnswer) {
        guard !AnswerBounds.exceeds(AnswerBounds.values, in: answer.body) else {
            self = .failed(.unreadable("it holds more than \(AnswerBounds.values) values"))
            return
        }
        if (200...299).contains(answer.status) {
            self = .done
            return
        }
        let code = (try? JSONDocument(answer.body))?.object?.integer("errorCode").map(ServerErrorCode.init(rawValue:))
        if answer.status == 401 {
            self = .tokenRefused(code)
            return
        }
        if answer.status == 429 || code?.behaviour == .slowDown {
            self = .tooMany(retryAfter: answer.retryAfter)
            return
        }
        guard let code else {
            let reason = AppStoreFailure.Reason.status(answer.status)
            self = answer.status >= 500 ? .passing(reason, isPerhapsDone: true) : .failed(reason)
            return
        }
        // After a 5xx the outcome is unknown, unless Apple's code says that the request may be repeated.
        let isPerhapsDone = answer.status >= 500 && (code == .generalInternal || !code.isKnown)
        switch code.behaviour {
        case .elsewhereOrSoon: self = .unknownID(code)
        case .retry: self = .passing(.apple(code), isPerhapsDone: isPerhapsDone)
        case nil where answer.status >= 500: self = .passing(.apple(code), isPerhapsDone: isPerhapsDone)
        case .giveUp, .beginAgain, .slowDown, nil: self = .failed(.apple(code))
        }
    }

    /// Reads an answer of verifyReceipt: every answer has the status 200, and a `status` in the body.
    init(verifyReceipt answer: TransportAnswer) {
        guard !AnswerBounds.exceeds(AnswerBounds.receiptValues, in: answer.body) else {
            self = .failed(.unreadable("it holds more than \(AnswerBounds.receiptValues) values"))
            return
        }
        guard (200...299).contains(answer.status) else {
            let reason = AppStoreFailure.Reason.status(answer.status)
            let isPassing = answer.status >= 500 || answer.status == 429
            self = isPassing ? .passing(reason, isPerhapsDone: false) : .failed(reason)
            return
        }
        guard let object = try? JSONDocument(answer.body).object, let number = object.lenientInteger("status") else {
            self = .failed(.unreadable("status is missing"))
            return
        }
        let status = ReceiptStatus(rawValue: number)
        switch status.behaviour {
        case .accept: self = .done
        case .ask(let other): self = .belongs(to: other, .receipt(status, mayPass: false))
        case .giveUp, .retry:
            // Documented with a hyphen, and sent with an underscore as well.
            let word = object.lenientFlag("is-retryable") ?? object.lenientFlag("is_retryable")
            let mayPass = word ?? (status.behaviour == .retry)
            let reason = AppStoreFailure.Reason.receipt(status, mayPass: mayPass)
            self = mayPass ? .passing(reason, isPerhapsDone: false) : .failed(reason)
        }
    }
}
