import AppStoreAccess
import AppStorePayloads
import AppStoreServerAPI
import AppStoreVerification
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
        let page = registry.exposition(with: [])
        for line in [
            #"storehook_apple_forged_total{code="untrusted_root"} 2"#,
            #"storehook_apple_forged_total{code="invalid_signature"} 0"#,
            #"storehook_apple_calls_total{call="transaction_info",outcome="answered"} 1"#,
            #"storehook_apple_calls_total{call="transaction_info",outcome="not_found"} 1"#,
            #"storehook_apple_calls_total{call="transaction_info",outcome="refused"} 1"#,
            #"storehook_apple_calls_total{call="transaction_info",outcome="failed"} 1"#,
        ] { #expect(page.contains(line + "\n"), "\(line)") }
    }
}
