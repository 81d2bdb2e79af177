public import Foundation

/// What StoreKit declares of its failures.
public enum StoreKitError: Error {
    /// Any other failure.
    case unknown
    /// The customer closed the store's window.
    case userCancelled
    /// The App Store was not reached.
    case networkError(URLError)
    /// The system failed.
    case systemError(any Error)
    /// The product is not sold where the customer is.
    case notAvailableInStorefront
}
