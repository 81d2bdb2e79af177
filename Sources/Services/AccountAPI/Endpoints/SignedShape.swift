import APIKit
import AppStorePayloads
import AppStoreVerification
import Pipeline

/// Which of Apple's signed records a text looks like. Nothing of it is verified: it chooses the advice in a refusal, and nothing else.
enum SignedShape: Sendable, Hashable {
    case transaction
    case renewal
    case notification
    case appTransaction

    /// Nil for what looks like none of them.
    init?(_ jws: [UInt8]) {
        let parts = jws.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let json = Base64.url.decode(Array(parts[1])),
            let object = try? JSONDocument(json).object
        else { return nil }
        if object.has("notificationType") {
            self = .notification
        } else if object.has("transactionId") {
            self = .transaction
        } else if object.has("autoRenewStatus") || object.has("autoRenewProductId") {
            self = .renewal
        } else if object.has("receiptCreationDate") || object.has("originalApplicationVersion") {
            self = .appTransaction
        } else {
            return nil
        }
    }

    /// What to send in the place of a record of this shape; nil where it is in its place.
    /// - Parameter kind: what it was sent as.
    func advice(for kind: HandedIn.Kind) -> ProblemText? {
        switch (self, kind) {
        case (.transaction, .transaction), (.renewal, .renewal), (.appTransaction, .appTransaction): nil
        case (_, .appTransaction):
            ProblemText(
                "this is no app transaction: send the jwsRepresentation of StoreKit's AppTransaction.shared",
                "这不是 App 交易：请发送 StoreKit 的 AppTransaction.shared 的 jwsRepresentation",
                "這不是 App 交易：請傳送 StoreKit 的 AppTransaction.shared 的 jwsRepresentation")
        case (.renewal, _):
            ProblemText(
                "this is a renewal info: send it as signedRenewalInfo, and its transaction as signedTransactionInfo",
                "这是续订信息：请作为 signedRenewalInfo 发送，并将其交易作为 signedTransactionInfo 发送",
                "這是續訂資訊：請作為 signedRenewalInfo 傳送，並將其交易作為 signedTransactionInfo 傳送")
        case (.transaction, _):
            ProblemText(
                "signedRenewalInfo holds a transaction: send that as signedTransactionInfo, and the renewal info of the same purchase or none",
                "signedRenewalInfo 中是一笔交易：请作为 signedTransactionInfo 发送，并发送同一购买的续订信息或不发送",
                "signedRenewalInfo 中是一筆交易：請作為 signedTransactionInfo 傳送，並傳送同一購買的續訂資訊或不傳送")
        case (.notification, _):
            ProblemText(
                "this is a notification of Apple's, which is posted to storehook receive: send the jwsRepresentation of StoreKit's transaction",
                "这是 Apple 的通知，应发送到 storehook receive：请发送 StoreKit 交易的 jwsRepresentation",
                "這是 Apple 的通知，應傳送到 storehook receive：請傳送 StoreKit 交易的 jwsRepresentation")
        case (.appTransaction, _):
            ProblemText(
                "this is an app transaction, which proves a download and no purchase: send the jwsRepresentation of StoreKit's transaction",
                "这是 App 交易，只能证明下载而不能证明购买：请发送 StoreKit 交易的 jwsRepresentation",
                "這是 App 交易，只能證明下載而不能證明購買：請傳送 StoreKit 交易的 jwsRepresentation")
        }
    }
}

extension ProblemText {
    /// Why records were refused, and what to send.
    /// - Parameter records: all that were handed in together: the answer does not say which of them it is about.
    init(_ message: String, of code: VerificationCode, handedIn records: [HandedIn]) {
        if code == .malformedPayload,
            let advice = records.lazy.compactMap({ SignedShape($0.bytes)?.advice(for: $0.kind) }).first
        {
            self = advice
        } else {
            self.init(ProblemText.sentence(message, code), of: code)
        }
    }

    /// A message with the next step, where there is one that the message does not name.
    private static func sentence(_ message: String, _ code: VerificationCode) -> String {
        let step: String? =
            switch code {
            case .malformed, .unsupportedAlgorithm, .wrongChainLength, .malformedCertificate, .invalidSignature,
                .malformedPayload:
                "send jwsRepresentation whole and unchanged, as StoreKit gives it"
            case .untrustedRoot, .invalidChain, .missingMarkerOID:
                "send what the App Store or its Sandbox signed; for Xcode and the stand-in name their root in STOREHOOK_TRUSTED_ROOTS"
            default: nil
            }
        guard let step else { return message }
        return "\(message.hasSuffix(".") ? String(message.dropLast()) : message): \(step)"
    }
}
