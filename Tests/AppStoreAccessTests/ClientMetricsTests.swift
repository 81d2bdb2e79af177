import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
import AppleSync
import Base
import Testing

@testable import Monitoring

@Suite("What is counted about Apple's answers")
struct ClientMetricsTests {
    @Test("is every refused record by its code, and every call by what became of it")
    func counts() {
        let registry = MetricsRegistry(MetricFamily.storehook)
        let observer = ClientMetrics(registry).observer
        observer.refused(.untrustedRoot)
        observer.refused(.untrustedRoot)
        observer.ended(.transactionInfo, .production, nil)
        observer.ended(.transactionInfo, .sandbox, "transaction_id_not_found")
        observer.ended(.transactionInfo, .sandbox, "invalid_signature")
        observer.ended(.transactionInfo, .sandbox, "apple_4009999")
        for code in [
            nil, "receipt_not_authentic", "wrong_bundle", "shared_secret_mismatch", "receipt_account_not_found",
            "receipt_internal_21199",
        ] { observer.ended(.verifyReceipt, .production, code) }
        let page = registry.exposition(with: [])
        for line in [
            #"storehook_apple_forged_total{code="untrusted_root"} 2"#,
            #"storehook_apple_forged_total{code="invalid_signature"} 0"#,
            #"storehook_apple_calls_total{call="transaction_info",outcome="answered"} 1"#,
            #"storehook_apple_calls_total{call="transaction_info",outcome="not_found"} 1"#,
            #"storehook_apple_calls_total{call="transaction_info",outcome="refused"} 1"#,
            #"storehook_apple_calls_total{call="transaction_info",outcome="failed"} 1"#,
            #"storehook_apple_calls_total{call="verify_receipt",outcome="answered"} 1"#,
            #"storehook_apple_calls_total{call="verify_receipt",outcome="refused"} 2"#,
            #"storehook_apple_calls_total{call="verify_receipt",outcome="unauthorized"} 1"#,
            #"storehook_apple_calls_total{call="verify_receipt",outcome="not_found"} 1"#,
            #"storehook_apple_calls_total{call="verify_receipt",outcome="failed"} 1"#,
        ] { #expect(page.contains(line + "\n"), "\(line)") }
    }
}
