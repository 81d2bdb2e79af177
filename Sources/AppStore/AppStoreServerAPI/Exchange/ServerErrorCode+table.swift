extension ServerErrorCode {
    struct Entry: Sendable {
        let name: String
        let behaviour: Behaviour
        let advice: String
    }

    /// Names and codes are those of Apple's libraries (APIError, app-store-server-library 3.1.2).
    static let table: [ServerErrorCode: Entry] = {
        var table: [ServerErrorCode: Entry] = [:]
        for (code, name, behaviour, advice) in mistakes + refusals + absences + troubles {
            table[ServerErrorCode(rawValue: code)] = Entry(name: name, behaviour: behaviour, advice: advice)
        }
        return table
    }()

    private typealias Row = (Int64, String, Behaviour, String)

    /// 400: the request itself.
    private static let mistakes: [Row] = [
        (4_000_000, "general_bad_request", .giveUp, "Apple does not understand the request"),
        (4_000_002, "invalid_app_identifier", .giveUp, "the App Apple ID is not one"),
        (4_000_005, "invalid_request_revision", .giveUp, "the revision is not one that Apple gave; begin without one"),
        (4_000_006, "invalid_transaction_id", .giveUp, "that is no transaction id; copy it again"),
        (4_000_008, "invalid_original_transaction_id", .giveUp, "that is no original transaction id; copy it again"),
        (4_000_009, "invalid_extend_by_days", .giveUp, "a renewal date moves by 1 to 90 days"),
        (4_000_010, "invalid_extend_reason_code", .giveUp, "the reason is 0, 1, 2 or 3"),
        (4_000_011, "invalid_request_identifier", .giveUp, "the request identifier has at most 128 characters"),
        (4_000_012, "start_date_too_far_in_past", .giveUp, "Apple keeps 180 days, in Sandbox 30: start later"),
        (4_000_013, "start_date_after_end_date", .giveUp, "the start must be before the end"),
        (4_000_014, "invalid_pagination_token", .giveUp, "the token belongs to another list; begin without one"),
        (4_000_015, "invalid_start_date", .giveUp, "the start is no instant"),
        (4_000_016, "invalid_end_date", .giveUp, "the end is no instant"),
        (4_000_017, "pagination_token_expired", .beginAgain, "the list took too long; it is begun again"),
        (4_000_018, "invalid_notification_type", .giveUp, "no such type of notification"),
        (4_000_019, "multiple_filters_supplied", .giveUp, "ask by a type or by a transaction, not by both"),
        (4_000_020, "invalid_test_notification_token", .giveUp, "that token names no test notification"),
        (4_000_021, "invalid_sort", .giveUp, "the order is ASCENDING or DESCENDING"),
        (4_000_022, "invalid_product_type", .giveUp, "no such kind of product"),
        (4_000_023, "invalid_product_id", .giveUp, "no such product in this app"),
        (4_000_024, "invalid_subscription_group_identifier", .giveUp, "no such subscription group"),
        (4_000_025, "invalid_exclude_revoked", .giveUp, "excludeRevoked is true or false"),
        (4_000_026, "invalid_in_app_ownership_type", .giveUp, "no such ownership"),
        (4_000_027, "invalid_empty_storefront_country_code_list", .giveUp, "name a country, or none at all"),
        (4_000_028, "invalid_storefront_country_code", .giveUp, "countries are ISO 3166-1 codes of three letters"),
        (4_000_030, "invalid_revoked", .giveUp, "revoked is true or false"),
        (4_000_031, "invalid_status", .giveUp, "a status is 1 to 5"),
        (4_000_032, "invalid_account_tenure", .giveUp, "accountTenure is not one of Apple's values"),
        (4_000_033, "invalid_app_account_token", .giveUp, "appAccountToken is a UUID or empty"),
        (4_000_034, "invalid_consumption_status", .giveUp, "consumptionStatus is not one of Apple's values"),
        (4_000_035, "invalid_customer_consented", .giveUp, "the customer has not consented: send nothing"),
        (4_000_036, "invalid_delivery_status", .giveUp, "deliveryStatus is not one of Apple's values"),
        (4_000_037, "invalid_lifetime_dollars_purchased", .giveUp, "lifetimeDollarsPurchased is not one of Apple's"),
        (4_000_038, "invalid_lifetime_dollars_refunded", .giveUp, "lifetimeDollarsRefunded is not one of Apple's"),
        (4_000_039, "invalid_platform", .giveUp, "platform is not one of Apple's values"),
        (4_000_040, "invalid_play_time", .giveUp, "playTime is not one of Apple's values"),
        (4_000_041, "invalid_sample_content_provided", .giveUp, "sampleContentProvided is true or false"),
        (4_000_042, "invalid_user_status", .giveUp, "userStatus is not one of Apple's values"),
        (4_000_043, "invalid_transaction_not_consumable", .giveUp, "that transaction is of no consumable"),
        (4_000_047, "invalid_transaction_type_not_supported", .giveUp, "this call is not for such a transaction"),
        (4_000_048, "app_transaction_id_not_supported", .giveUp, "this call takes no appTransactionId"),
        (4_000_183, "invalid_app_account_token_uuid", .giveUp, "the account token must be a UUID"),
        (4_000_185, "family_transaction_not_supported", .giveUp, "a family member's copy has no account token"),
        (
            4_000_187, "transaction_id_is_not_original_transaction_id", .giveUp,
            "name the purchase by its original transaction id"
        ),
    ]

    /// 403: understood, and not allowed.
    private static let refusals: [Row] = [
        (
            4_030_004, "subscription_extension_ineligible", .giveUp,
            "only an active, paid subscription can be extended"
        ),
        (4_030_005, "subscription_max_extension", .giveUp, "it was extended as often as Apple allows in a year"),
        (
            4_030_007, "family_shared_subscription_extension_ineligible", .giveUp,
            "extend the subscription of the family member who pays"
        ),
    ]

    /// 404: not there.
    private static let absences: [Row] = [
        (4_040_001, "account_not_found", .giveUp, "Apple has no such customer"),
        (4_040_002, "account_not_found_retryable", .retry, "Apple does not find the customer just now; try later"),
        (4_040_003, "app_not_found", .giveUp, "Apple has no app of this bundle id for this key; see STOREHOOK_APPS"),
        (4_040_004, "app_not_found_retryable", .retry, "Apple does not find the app just now; try later"),
        (4_040_005, "original_transaction_id_not_found", .elsewhereOrSoon, "Apple has no such original transaction"),
        (
            4_040_006, "original_transaction_id_not_found_retryable", .retry,
            "Apple does not find the original transaction just now; try later"
        ),
        (
            4_040_007, "server_notification_url_not_found", .giveUp,
            "enter the receiver's URL in App Store Connect, under App Information, for this environment"
        ),
        (4_040_008, "test_notification_not_found", .giveUp, "that test notification is unknown, or too old"),
        (4_040_009, "status_request_not_found", .giveUp, "no such extension request for this product"),
        (4_040_010, "transaction_id_not_found", .elsewhereOrSoon, "Apple has no such transaction"),
        (4_040_019, "app_transaction_does_not_exist", .giveUp, "Apple has no app transaction for this customer"),
    ]

    /// 429 and 500.
    private static let troubles: [Row] = [
        (4_290_000, "rate_limit_exceeded", .slowDown, "Apple allows no more requests at present; try later"),
        (5_000_000, "general_internal", .retry, "Apple has trouble of its own; try later"),
        (5_000_001, "general_internal_retryable", .retry, "Apple has trouble of its own; try later"),
    ]
}
