package import AppStoreVerification

/// The receipt statuses that the EmoFlow dialect describes: those of Apple's verifyReceipt, with that document's texts.
package enum EmoFlowReceiptStatus: Int, Sendable, Hashable, CaseIterable {
    /// The App Store could not read it.
    case unreadable = 21000
    /// The receipt is malformed.
    case malformed = 21002
    /// It could not be authenticated.
    case notAuthentic = 21003
    /// The shared secret is another one.
    case wrongSecret = 21004
    /// The server is away.
    case away = 21005
    /// It is valid, and the subscription over.
    case expired = 21006
    /// It is of Sandbox, and was sent to Production.
    case ofSandbox = 21007
    /// It is of Production, and was sent to Sandbox.
    case ofProduction = 21008
    /// It could not be authorized.
    case unauthorized = 21010

    /// The document's text.
    package var text: String {
        switch self {
        case .unreadable: "App Store 无法读取收据数据"
        case .malformed: "收据数据格式错误"
        case .notAuthentic: "收据验证失败"
        case .wrongSecret: "共享密钥不匹配"
        case .away: "收据服务器暂时不可用"
        case .expired: "收据有效但订阅已过期"
        case .ofSandbox: "收据是沙盒收据，但发送到了生产环境"
        case .ofProduction: "收据是生产收据，但发送到了沙盒环境"
        case .unauthorized: "收据无法被授权"
        }
    }

    /// The `detail` of the answer.
    package var detail: String { "Apple 验证失败: \(text)" }

    /// The status that says the same as a code of verification does.
    package init(_ code: VerificationCode) {
        self =
            switch code {
            case .malformed, .malformedPayload, .malformedCertificate, .unsupportedAlgorithm, .wrongChainLength:
                .malformed
            case .revocationUnknown, .signedInFuture: .away
            case .wrongEnvironment: .ofSandbox
            case .wrongBundle, .wrongAppAppleId: .unauthorized
            case .untrustedRoot, .invalidChain, .certificateNotValidAt, .missingMarkerOID, .invalidSignature,
                .mismatchedParts, .payloadTooOld, .revoked:
                .notAuthentic
            }
    }
}
